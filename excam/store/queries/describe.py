"""What a store holds, at a glance."""

from __future__ import annotations

from datetime import datetime

import duckdb
from pydantic import BaseModel, ConfigDict

from excam.store.compact import store_size
from excam.store.holder import Holder
from excam.store.schema import stored_version

TABLES = (
    "pairs", "texts", "verdicts", "errors", "dead_letters", "ledger", "stream_ranges", "judges", "runs", "reviews",
    "alerts", "alert_deliveries", "replay_requests",
)  # fmt: skip


class Description(BaseModel):
    """Rows by table, files, the stretch of time covered, and who holds the lease."""

    model_config = ConfigDict(frozen=True)

    schema_version: int
    rows: dict[str, int]
    files: int
    bytes: int
    versions: int
    first_logged: datetime | None
    last_logged: datetime | None
    writer: str | None
    writing_since: datetime | None


def describe(connection: duckdb.DuckDBPyConnection) -> Description:
    """Count everything; counts and the span of time come from statistics, so a large store answers at once."""
    size = store_size(connection)
    first, last = connection.execute(
        "SELECT epoch_us(min(logged_at)) / 1e6, epoch_us(max(logged_at)) / 1e6 FROM lake.pairs"
    ).fetchall()[0]
    holder, since = connection.execute(
        """SELECT CASE WHEN released_at IS NULL THEN holder END, epoch_us(taken_at) / 1e6
           FROM lake.leases WHERE name = 'writer'"""
    ).fetchall()[0]
    return Description(
        schema_version=stored_version(connection),
        rows={table: _count(connection, table) for table in TABLES},
        files=size.files,
        bytes=size.bytes,
        versions=size.versions,
        first_logged=first,
        last_logged=last,
        writer=str(Holder.load(holder)) if holder else None,
        writing_since=since if holder else None,
    )


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    row = connection.execute(f"SELECT count(*) FROM lake.{table}").fetchone()
    return int(row[0]) if row else 0
