"""Memory of a writer that commits for days: the database it commits through is closed and opened anew now and then.

DuckLake keeps something of every version it has seen for as long as its DuckDB lives (docs/decisions/151).
"""

from __future__ import annotations

import threading

import duckdb

from excam.fault import UserError
from excam.memory import give_back
from excam.store.connection import connect
from excam.store.url import StoreUrl

RENEW_COMMITS = 25  # each leaves some 170 KB behind


class Writer:
    """Lends a connection for every commit; the first ones are the store's own, which stays open for all else."""

    def __init__(self, url: StoreUrl, store: duckdb.DuckDBPyConnection) -> None:
        self._url = url
        self._store = self._database = store
        self._commits = 0
        self._lock = threading.Lock()

    def cursor(self) -> duckdb.DuckDBPyConnection:
        """A connection for one commit."""
        with self._lock:
            if self._commits >= RENEW_COMMITS:
                self._renew()
            self._commits += 1
            return self._database.cursor()

    def close(self) -> None:
        """Close what was opened here."""
        if self._database is not self._store:
            self._database.close()

    def _renew(self) -> None:
        try:
            fresh = connect(self._url, read_only=False)
        except UserError:
            return  # the catalogue is out of reach: the commit will say so, and the next one tries again
        self.close()
        self._database, self._commits = fresh, 0
        give_back()
