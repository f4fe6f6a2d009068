"""Signs of life of the one writer, kept apart from the lake so that a beat never collides with a commit.

Beats only shorten the wait for a dead writer's lease: whether a commit may happen is decided by the token in the lake
(:mod:`excam.store.lease`), so a wrong clock or a slow thread costs a takeover, never a doubled row.
"""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta

import duckdb

from excam.store.connection import attempt
from excam.store.url import StoreUrl, quote

BEAT_SECONDS = 5.0
EXPIRY = timedelta(seconds=30)

_TABLE = "pulse.excam_heartbeats"


class Pulse:
    """The table of heartbeats, through a connection of its own: beside a SQLite catalogue, inside a PostgreSQL one."""

    def __init__(self, url: StoreUrl, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection.cursor()
        options = ["TYPE " + url.catalogue]
        if url.catalogue == "sqlite":
            options += ["BUSY_TIMEOUT 0", "JOURNAL_MODE 'WAL'"]
        elif url.password():
            options.append("SECRET catalogue")
        self._run(f"ATTACH IF NOT EXISTS {quote(url.heartbeat_target)} AS pulse ({', '.join(options)})")
        self._run(f"CREATE TABLE IF NOT EXISTS {_TABLE} (token BIGINT, beat_at VARCHAR)")

    def beat(self, token: int) -> None:
        """Say that the holder of this token lives. What it said before goes afterwards: there is always a last beat."""
        now = datetime.now(UTC).isoformat()
        self._run(f"INSERT INTO {_TABLE} VALUES ({token}, '{now}')")
        self._run(f"DELETE FROM {_TABLE} WHERE token < {token} OR (token = {token} AND beat_at <> '{now}')")

    def last_beat(self, token: int) -> datetime | None:
        rows = self._run(f"SELECT max(beat_at) FROM {_TABLE} WHERE token = {token}")
        return datetime.fromisoformat(rows[0][0]) if rows[0][0] else None

    def newest_token(self) -> int:
        rows = self._run(f"SELECT max(token) FROM {_TABLE}")
        return int(rows[0][0] or 0)

    def close(self) -> None:
        self._connection.close()

    def _run(self, statement: str) -> list[tuple[str | None, ...]]:
        return attempt(lambda: self._connection.execute(statement).fetchall(), seconds=5.0)


class Heartbeat:
    """A thread that beats until it is stopped, and notices when another writer has taken the lease over."""

    def __init__(self, pulse: Pulse, token: int) -> None:
        self.lost = threading.Event()
        self._stop = threading.Event()
        self._pulse = pulse
        self._token = token
        self._pulse.beat(token)
        self._thread = threading.Thread(target=self._beat_on, name="excam-lease-heartbeat", daemon=True)
        self._thread.start()

    def _beat_on(self) -> None:
        while not self._stop.wait(BEAT_SECONDS):
            try:
                if self._pulse.newest_token() > self._token:
                    self.lost.set()
                    return
                self._pulse.beat(self._token)
            except duckdb.Error:
                continue  # the catalogue is out of reach: the next commit will say so, a beat may be missed until then

    def stop(self) -> None:
        self._stop.set()
        self._thread.join()
        self._pulse.close()
