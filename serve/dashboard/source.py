"""The store behind the dashboard: opened when first asked, again after it was out of reach, and never named to readers.

Everything a reader may see of a failure is decided here: a mistake in the question is told, a store that cannot be
reached is only said to be so. Paths, addresses and SQL go to the server's log.
"""

from __future__ import annotations

import copy
import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Concatenate, ParamSpec, TypeVar

import duckdb

from excam.fault import UserError
from excam.store import Store
from serve.dashboard.answers import Answers

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

KEEP_SECONDS = 60.0
BEHIND_SECONDS = 5.0

log = logging.getLogger("excam.dashboard")


class StoreUnreachableError(Exception):
    """The store did not answer; why is in the log."""


class StoreSource:
    """One store for all requests. Reading opens it read-only; only a review opens it for writing."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._stores: dict[bool, Store] = {}
        self._failed: dict[bool, float] = {}
        self._kept = Answers()
        self._seen: int | None = None

    def now(self) -> StoreSource:
        """The same store as one request sees it: its version is looked up once, when it is first needed."""
        current = copy.copy(self)
        current._seen = None
        return current

    def ask(
        self,
        question: Callable[Concatenate[duckdb.DuckDBPyConnection, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Ask a question of the store; a :class:`UserError` is a mistake in the question itself."""
        store = self._open(writable=False)
        try:
            return store.query(question, *args, **kwargs)
        except duckdb.Error as error:
            raise self._lost(error, writable=False) from error

    def recall(self, question: Callable[..., Result], *args: Hashable) -> Result:
        """The same, answered from memory until somebody commits to the store: readers share one answer."""
        return self._kept.get((question, args), self._version(), lambda: self.ask(question, *args))

    def glance(self, question: Callable[..., Result], *args: Hashable) -> Result:
        """The same for figures of many verdicts: right after a commit the ones before it serve for a few seconds."""
        return self._kept.get((question, args), self._version(), lambda: self.ask(question, *args), BEHIND_SECONDS)

    def remember(self, question: Callable[..., Result], *args: Hashable) -> Result:
        """The same for what may be a minute old, such as the names that filters offer."""
        minute = int(time.monotonic() / KEEP_SECONDS)
        return self._kept.get((question, args), minute, lambda: self.ask(question, *args), 2 * KEEP_SECONDS)

    def _version(self) -> int:
        if self._seen is None:
            self._seen = self.ask(_current_version)
        return self._seen

    def write(
        self,
        work: Callable[Concatenate[duckdb.DuckDBPyConnection, Arguments], Result],
        *args: Arguments.args,
        **kwargs: Arguments.kwargs,
    ) -> Result:
        """Add rows that need no lease, such as a review."""
        store = self._open(writable=True)
        try:
            return store.query(work, *args, **kwargs)
        except duckdb.Error as error:
            raise self._lost(error, writable=True) from error
        finally:
            self._seen = None
            self._kept.forget()

    def close(self) -> None:
        self._kept.close()
        with self._lock:
            for store in self._stores.values():
                store.close()
            self._stores.clear()

    def _open(self, *, writable: bool) -> Store:
        if store := self._stores.get(writable):
            return store
        asked = time.monotonic()
        with self._lock:
            if writable not in self._stores:
                if self._failed.get(writable, 0.0) > asked:
                    raise StoreUnreachableError  # found while this request waited: it need not wait as long again
                try:
                    # A store must exist to be written to: opening a missing one for writing would create it.
                    with_care = Store.open(self._url, read_only=True)
                    if writable:
                        with_care.close()
                        with_care = Store.open(self._url)
                    self._stores[writable] = with_care
                except (UserError, duckdb.Error, OSError) as error:
                    log.warning("the store cannot be opened: %s", error)
                    self._failed[writable] = time.monotonic()
                    raise StoreUnreachableError from error
            return self._stores[writable]

    def _lost(self, error: duckdb.Error, *, writable: bool) -> StoreUnreachableError:
        """Forget the connection, so that the next request tries a new one."""
        log.warning("the store did not answer: %s", error)
        with self._lock:
            self._stores.pop(writable, None)
        return StoreUnreachableError()


def _current_version(connection: duckdb.DuckDBPyConnection) -> int:
    """The number of the store's latest commit."""
    return int(connection.execute("SELECT id FROM lake.current_snapshot()").fetchall()[0][0])
