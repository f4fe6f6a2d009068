"""A plain DuckDB file of the store, for notebooks and BI tools that know nothing of DuckLake."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import duckdb

from excam.fault import UserError
from excam.store.connection import transact
from excam.store.url import quote

# What each table of the file is made of: the internal keys stay out, a pair brings its text.
TABLES = {
    "pairs": """SELECT pairs.* EXCLUDE (pair_key, text_key, text_check), texts.instruction, texts.output
                FROM lake.pairs AS pairs
                LEFT JOIN lake.texts AS texts
                ON texts.text_key = pairs.text_key AND texts.text_check = pairs.text_check""",
    "verdicts": "SELECT * EXCLUDE (pair_key, text_key, text_check) FROM lake.verdicts",
    "errors": "SELECT * EXCLUDE (pair_key) FROM lake.errors",
    "dead_letters": "FROM lake.dead_letters",
    "judges": "FROM lake.judges",
    "runs": "FROM lake.runs",
    "stream_ranges": "FROM lake.stream_ranges",
    "reviews": "SELECT * EXCLUDE (pair_key) FROM lake.reviews",
    "alerts": "FROM lake.alerts",
    "alert_deliveries": "FROM lake.alert_deliveries",
    "replay_requests": "FROM lake.replay_requests",
}


def write_snapshot(connection: duckdb.DuckDBPyConnection, file: str, *, replace: bool = False) -> dict[str, int]:
    """Write the store as it is now, one moment for all tables, and say how many rows each has.

    The file appears under its name only when it is whole, so a tool that watches for it never opens half of one.
    """
    target = Path(file).expanduser()
    if target.exists() and not replace:
        raise UserError(f"{target} exists", "name another file, or allow it to be replaced with --force")
    if not target.parent.is_dir():
        raise UserError(f"there is no folder {target.parent}", "create it, or name another file")
    # A folder of its own, because DuckDB keeps more beside the file, with texts in it, when the disk is full.
    with tempfile.TemporaryDirectory(prefix=f".{target.name}.", dir=target.parent) as folder:
        making = Path(folder) / "snapshot.duckdb"
        try:
            connection.execute(f"ATTACH {quote(str(making))} AS snapshot")
            counts = transact(
                connection, lambda: {name: _copy(connection, name, query) for name, query in TABLES.items()}
            )
            connection.execute("DETACH snapshot")
        except (duckdb.IOException, duckdb.TransactionException) as error:
            reason = " ".join(str(error).split())
            raise UserError(f"{target} was not written: {reason}", "make room, or name another place") from error
        os.replace(making, target)
    return counts


def _copy(connection: duckdb.DuckDBPyConnection, name: str, query: str) -> int:
    row = connection.execute(f"CREATE TABLE snapshot.{name} AS {query}").fetchone()
    return int(row[0]) if row else 0
