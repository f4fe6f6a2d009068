"""What has been read: one row for each part of a source and judge, written in the commit that stores its verdicts.

A part is a unit of a file or a partition of a topic. Because the row and the verdicts are one transaction, a run that
was killed goes on exactly where its last commit ended, and a file that has been read is not read again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import duckdb
import pyarrow as pa

_SCHEMA = pa.schema(
    [
        ("source", pa.string()),
        ("part", pa.int64()),
        ("fingerprint", pa.string()),
        ("rows_total", pa.int64()),
        ("rows_skipped", pa.int64()),
        ("next_offset", pa.int64()),
        ("state", pa.string()),
        ("detail", pa.string()),
    ]
)

DONE = "done"


@dataclass(frozen=True)
class LedgerUnit:
    """One part of a source: ``source`` is a file's URI or ``kafka:topic``, ``part`` its unit or partition number.

    ``fingerprint`` changes when the file does, so that a rewritten file is read anew. ``next_offset`` is where a
    topic's partition goes on. ``state`` is ``done`` when nothing of the part is left to read.
    """

    source: str
    part: int
    fingerprint: str = ""
    rows_total: int = 0
    rows_skipped: int = 0
    next_offset: int | None = None
    state: str = DONE
    detail: str = ""


def write_ledger(
    connection: duckdb.DuckDBPyConnection, run_id: str, judge_version: str, units: Sequence[LedgerUnit]
) -> None:
    """Set the rows of these parts, inside the caller's transaction; the last of several for one part counts."""
    if not units:
        return
    latest = {(unit.source, unit.part, unit.fingerprint): unit for unit in units}
    rows = [asdict(unit) | {"detail": unit.detail.replace("\0", "\\0")} for unit in latest.values()]
    table = pa.Table.from_pylist(rows, schema=_SCHEMA)
    connection.register("ledger_units", table)
    same = """stored.source = unit.source AND stored.part = unit.part AND stored.fingerprint = unit.fingerprint
              AND stored.judge_version || '' = $judge"""
    names = {"judge": judge_version, "run": run_id}
    # Not a MERGE: DuckLake keeps small inserts and updates in the catalogue, but writes a file for a MERGE's.
    known = connection.execute(
        f"SELECT count(*) FROM lake.ledger AS stored JOIN ledger_units AS unit ON {same}", {"judge": judge_version}
    ).fetchone()
    if known and known[0]:
        connection.execute(
            f"""UPDATE lake.ledger AS stored SET
                    rows_total = unit.rows_total, rows_skipped = unit.rows_skipped, next_offset = unit.next_offset,
                    state = unit.state, detail = unit.detail, run_id = $run, updated_at = now()
                FROM ledger_units AS unit WHERE {same}""",
            names,
        )
    if known and known[0] < len(rows):
        unknown = f"WHERE NOT EXISTS (SELECT 1 FROM lake.ledger AS stored WHERE {same})" if known[0] else ""
        connection.execute(
            f"""INSERT INTO lake.ledger BY NAME
                SELECT unit.*, $judge AS judge_version, $run AS run_id, now() AS updated_at
                FROM ledger_units AS unit {unknown}""",
            names,
        )
    connection.unregister("ledger_units")


def done_parts(connection: duckdb.DuckDBPyConnection, source: str, fingerprint: str, judge_version: str) -> set[int]:
    """The parts of this very version of a source that this judge has finished."""
    rows = connection.execute(
        """SELECT part FROM lake.ledger
           WHERE source || '' = ? AND fingerprint || '' = ? AND judge_version = ? AND state = 'done'""",
        [source, fingerprint, judge_version],
    ).fetchall()
    return {int(part) for (part,) in rows}


def ledger_sources(connection: duckdb.DuckDBPyConnection, judge_version: str) -> pa.Table:
    """Every ledger row of this judge, oldest first: what was read, how far, in which run."""
    return connection.execute(
        """SELECT source, part, fingerprint, rows_total, rows_skipped, next_offset, state, detail, run_id, updated_at
           FROM lake.ledger WHERE judge_version = ? ORDER BY updated_at, source, part""",
        [judge_version],
    ).to_arrow_table()
