"""One writer at a time: a lease on the store, with a token that every commit checks and touches.

DuckLake has no unique keys, and two transactions that insert the same new pair both succeed. What it does refuse is two
transactions that update the same row. So the lease is a row with a token: taking it over raises the token, every commit
updates the row under its own token, and a writer that was taken for dead finds that its next commit fails.
"""

from __future__ import annotations

import time
from datetime import UTC, datetime
from types import TracebackType

import duckdb

from excam.fault import UserError
from excam.store.connection import attempt, transact
from excam.store.heartbeat import EXPIRY, Heartbeat, Pulse
from excam.store.holder import Holder, this_process
from excam.store.url import StoreUrl

POLL_SECONDS = 0.5


class LeaseLostError(UserError):
    """Another writer took this lease over; nothing this one still holds may be written."""

    def __init__(self) -> None:
        super().__init__(
            "another writer has taken over the store, so this commit was refused and nothing of it was stored",
            "let the other one finish, then run this command again: it goes on where it stopped",
        )


class Lease:
    """The right to write, until released. Use it in a ``with`` block."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, pulse: Pulse, token: int) -> None:
        self.token = token
        self._connection = connection
        self._released = False
        self._heartbeat = Heartbeat(pulse, token)

    def __enter__(self) -> Lease:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()

    def fence(self, connection: duckdb.DuckDBPyConnection) -> None:
        """Touch the lease row under this token, inside the caller's transaction: first statement of every write."""
        if self._released:
            raise RuntimeError("the lease was released before this write")
        # An expression: to compare a column would have DuckLake read the statistics of all files of all tables.
        touched = connection.execute(
            "UPDATE lake.leases SET committed_at = now() WHERE name || token = ?", [f"writer{self.token}"]
        ).fetchone()
        if touched is None or touched[0] != 1:
            raise LeaseLostError

    @property
    def lost(self) -> bool:
        """Whether another writer is known to have taken over; a long job can stop early on it."""
        return self._heartbeat.lost.is_set()

    def release(self) -> None:
        if self._released:
            return
        self._released = True
        self._heartbeat.stop()
        attempt(
            lambda: self._connection.execute(
                "UPDATE lake.leases SET released_at = now() WHERE name = 'writer' AND token = ?", [self.token]
            )
        )
        self._connection.close()


def meet(connection: duckdb.DuckDBPyConnection, fence: str) -> None:
    """Touch a fence row, inside the caller's transaction: of two that do so at a time, the later one starts afresh."""
    # An expression, as in Lease.fence.
    connection.execute("UPDATE lake.leases SET committed_at = now() WHERE name || '' = ?", [fence])


def take_lease(url: StoreUrl, store: duckdb.DuckDBPyConnection, note: str, wait: float) -> Lease:
    """Take the lease, waiting at most ``wait`` seconds for a living holder; a dead one's is taken over."""
    deadline = time.monotonic() + wait
    connection = store.cursor()
    pulse = Pulse(url, connection)
    while True:
        token = transact(connection, lambda: _try_to_take(connection, pulse, note))
        if isinstance(token, int):
            return Lease(connection, pulse, token)
        if time.monotonic() >= deadline:
            pulse.close()
            connection.close()
            raise token
        time.sleep(min(POLL_SECONDS, max(0.0, deadline - time.monotonic())))


def _try_to_take(connection: duckdb.DuckDBPyConnection, pulse: Pulse, note: str) -> int | UserError:
    """Within one transaction: read who holds it, and raise the token if nobody living does."""
    found = connection.execute(
        "SELECT token, holder, note, taken_at, released_at FROM lake.leases WHERE name = 'writer'"
    ).to_arrow_table()
    token, holder_text, holder_note, taken_at, released_at = found.to_pylist()[0].values()
    if released_at is None:
        holder = Holder.load(holder_text)
        beat = max(pulse.last_beat(token) or taken_at, taken_at)
        if not holder.is_surely_gone() and datetime.now(UTC) - beat < EXPIRY:
            return _held(holder, holder_note, taken_at, beat)
    connection.execute(
        """UPDATE lake.leases SET token = ?, holder = ?, note = ?, taken_at = now(), committed_at = NULL,
           released_at = NULL WHERE name = 'writer' AND token = ?""",
        [token + 1, this_process().dump(), note, token],
    )
    # Only one writer lives at a time, so whatever still says that it runs has died.
    connection.execute("UPDATE lake.runs SET state = 'interrupted', ended_at = now() WHERE state = 'running'")
    return int(token) + 1


def _held(holder: Holder, note: str, taken_at: datetime, beat: datetime) -> UserError:
    silent = (datetime.now(UTC) - beat).total_seconds()
    what = f" ({note})" if note else ""
    return UserError(
        f"the store is being written by {holder}{what} since {taken_at:%Y-%m-%d %H:%M:%S} UTC, "
        f"last sign of life {silent:.0f} s ago",
        "wait for it to finish, or stop it; a lease whose holder is dead is taken over by itself",
    )
