"""The store behind the dashboard: opened when first asked, again after it was out of reach, and never named to readers.

Everything a reader may see of a failure is decided here: a mistake in the question is told, a store that cannot be
reached is only said to be so. Paths, addresses and SQL go to the server's log.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Hashable
from typing import Any, Concatenate, ParamSpec, TypeVar, cast

import duckdb

from excam.fault import UserError
from excam.store import Store

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

KEEP_SECONDS = 30.0
MOST_REMEMBERED = 100

log = logging.getLogger("excam.dashboard")


class StoreUnreachableError(Exception):
    """The store did not answer; why is in the log."""


class StoreSource:
    """One store for all requests. Reading opens it read-only; only a review opens it for writing."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._lock = threading.Lock()
        self._stores: dict[bool, Store] = {}
        self._remembered: dict[Hashable, tuple[float, Any]] = {}

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

    def remember(self, question: Callable[..., Result], *args: Hashable) -> Result:
        """The same for what may be half a minute old, such as the names that filters offer."""
        known = self._remembered.get((question, args))
        if known is not None and time.monotonic() - known[0] < KEEP_SECONDS:
            return cast("Result", known[1])
        answer = self.ask(question, *args)
        if len(self._remembered) > MOST_REMEMBERED:
            self._remembered.clear()
        self._remembered[(question, args)] = (time.monotonic(), answer)
        return answer

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

    def close(self) -> None:
        with self._lock:
            for store in self._stores.values():
                store.close()
            self._stores.clear()

    def _open(self, *, writable: bool) -> Store:
        with self._lock:
            if writable not in self._stores:
                try:
                    # A store must exist to be written to: opening a missing one for writing would create it.
                    with_care = Store.open(self._url, read_only=True)
                    if writable:
                        with_care.close()
                        with_care = Store.open(self._url)
                    self._stores[writable] = with_care
                except (UserError, duckdb.Error, OSError) as error:
                    log.warning("the store cannot be opened: %s", error)
                    raise StoreUnreachableError from error
            return self._stores[writable]

    def _lost(self, error: duckdb.Error, *, writable: bool) -> StoreUnreachableError:
        """Forget the connection, so that the next request tries a new one."""
        log.warning("the store did not answer: %s", error)
        with self._lock:
            self._stores.pop(writable, None)
        return StoreUnreachableError()
