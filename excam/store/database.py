"""Memory of whoever works with a store for days: the database behind it is closed and opened anew now and then.

DuckLake keeps something of every version it has seen for as long as its DuckDB lives (docs/decisions/151). A writer
sees one with every commit of its own, a dashboard beside it one with every commit it looks at.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager

import duckdb

from excam.fault import UserError
from excam.memory import give_back
from excam.store.connection import connect
from excam.store.url import StoreUrl

RENEW_COMMITS = 10  # each leaves some 170 KB behind
RENEW_SECONDS = 1800.0  # of somebody else's commits, which nobody counts here
FRUGAL_MEMORY = "512MB"


@contextmanager
def frugal(url: StoreUrl, *, read_only: bool = False) -> Iterator[duckdb.DuckDBPyConnection]:
    """A database of its own for whoever writes much at once: what that takes in memory is little and goes with it.

    With one thread, because several keep to the rows of a row group and not to its bytes (decision 159). What has to be
    sorted or joined beyond its memory goes through the disk, long before DuckDB's own limit: most of the machine.
    """
    with closing(connect(url, read_only=read_only)) as connection:
        connection.execute("SET threads = 1")
        connection.execute(f"SET memory_limit = '{FRUGAL_MEMORY}'")
        connection.execute("SET streaming_buffer_size = '64KB'")  # texts do not count: by default some 40,000 rows
        yield connection
    give_back()


class Database:
    """Lends a connection for every commit and every question.

    The store's own database, on which the lease stays, is asked until there is another. No commit goes through it: it
    lives as long as the store, and so would what a commit leaves behind.
    """

    def __init__(self, url: StoreUrl, first: duckdb.DuckDBPyConnection, *, read_only: bool) -> None:
        self._url, self._read_only = url, read_only
        self._first = self._current = first
        self._commits = 0
        self._opened_at = time.monotonic()
        self._lock = threading.Lock()

    def cursor(self, *, commits: int = 0) -> duckdb.DuckDBPyConnection:
        """A connection for one piece of work, which is going to make so many commits."""
        with self._lock:
            old = self._commits >= RENEW_COMMITS or time.monotonic() - self._opened_at >= RENEW_SECONDS
            if old or (commits and self._current is self._first):
                self._renew()
            self._commits += commits
            return self._current.cursor()

    def close(self) -> None:
        """Close what was opened here."""
        if self._current is not self._first:
            self._current.close()

    def _renew(self) -> None:
        try:
            fresh = connect(self._url, read_only=self._read_only)
        except UserError:
            return  # the catalogue is out of reach: the work at hand will say so, and the next one tries again
        if not self._read_only:
            fresh.execute("SET threads = 1")  # a commit is too small to share out, and each thread has its own buffers
            # Keys are hashes, so their range rules no file out; to try has DuckLake read the statistics of every file.
            fresh.execute("SET disabled_optimizers = 'join_filter_pushdown'")
        worn, self._current = self._current, fresh
        self._commits, self._opened_at = 0, time.monotonic()
        if worn is not self._first:
            worn.close()
            give_back()
