"""How far a topic has been read, by judge: written in the commit that stores what was read, and checked there.

The ledger holds where each partition goes on. Beside it every run keeps the ranges it settled, so that anybody can see
afterwards that offsets follow one another without a gap or an overlap, which of them retention had deleted, and what
they held.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

import duckdb
import pyarrow as pa

from excam.fault import UserError
from excam.store.ledger import LedgerUnit, write_ledger

READ = "read"  # these offsets have their outcome in the store
LOST = "lost"  # these were deleted from the topic before anybody read them
START = "start"  # from here on this judge reads the partition
OPEN = "open"  # the ledger's state of a partition: there may always be more

_NUMBERS = ("part", "first_offset", "next_offset", "messages", "empty", "records", "skipped")
_SCHEMA = pa.schema({name: pa.int64() for name in _NUMBERS} | dict.fromkeys(("source", "kind", "detail"), pa.string()))


class OffsetMovedError(UserError):
    """A batch that does not begin where the store stands: it, or a later one, is stored already."""

    def __init__(self, source: str, part: int, expected: int, found: int | None) -> None:
        super().__init__(
            f"{source}, partition {part}: this batch begins at offset {expected}, the store stands at {found}; "
            "nothing of it was stored",
            "let one stream write this topic and judge at a time, and start it again",
        )


@dataclass(frozen=True)
class OffsetRange:
    """A run of offsets of one partition, ``next_offset`` not included, that a commit settles.

    ``messages`` of them held something (the others were transaction markers, aborted, or compacted away), ``empty``
    ones were tombstones; ``records`` is what the messages held, of which ``skipped`` were left out by sampling.
    """

    source: str
    part: int
    first_offset: int
    next_offset: int
    kind: str = READ
    messages: int = 0
    empty: int = 0
    records: int = 0
    skipped: int = 0
    detail: str = ""


def write_ranges(
    connection: duckdb.DuckDBPyConnection, run_id: str, judge_version: str, ranges: Sequence[OffsetRange]
) -> None:
    """Settle the ranges inside the caller's transaction; each must begin where the store stands."""
    if not ranges:
        return
    positions: dict[tuple[str, int], int] = {}
    for source in {one.source for one in ranges}:
        for part, offset in stored_positions(connection, source, judge_version).items():
            positions[source, part] = offset
    for one in ranges:
        place = (one.source, one.part)
        if one.kind != START and positions.get(place) != one.first_offset:
            raise OffsetMovedError(one.source, one.part, one.first_offset, positions.get(place))
        positions[place] = one.next_offset
    _extend(connection, run_id, judge_version, ranges)
    details = {(one.source, one.part): one.detail for one in ranges}
    units = [
        LedgerUnit(source=source, part=part, next_offset=offset, state=OPEN, detail=details[source, part])
        for (source, part), offset in positions.items()
        if (source, part) in details
    ]
    write_ledger(connection, run_id, judge_version, units)


def _extend(
    connection: duckdb.DuckDBPyConnection, run_id: str, judge_version: str, ranges: Sequence[OffsetRange]
) -> None:
    """Lengthen this run's last range where the new one follows it and is of its kind; else it is a row of its own."""
    connection.register("new_ranges", pa.Table.from_pylist([asdict(one) for one in ranges], schema=_SCHEMA))
    names = {"judge": judge_version, "run": run_id}
    follows = f"""stored.source = fresh.source AND stored.part = fresh.part AND stored.judge_version || '' = $judge
                  AND stored.run_id || '' = $run AND stored.kind || '' = fresh.kind AND fresh.kind = '{READ}'
                  AND stored.next_offset = fresh.first_offset AND fresh.next_offset > fresh.first_offset"""
    connection.execute(
        f"""INSERT INTO lake.stream_ranges BY NAME
            SELECT source, part, first_offset, next_offset, kind, messages, empty, records, skipped,
                   $judge AS judge_version, $run AS run_id, now() AS first_at, now() AS last_at
            FROM new_ranges AS fresh
            WHERE NOT EXISTS (SELECT 1 FROM lake.stream_ranges AS stored WHERE {follows})""",
        names,
    )
    connection.execute(
        f"""UPDATE lake.stream_ranges AS stored SET
                next_offset = fresh.next_offset, messages = stored.messages + fresh.messages,
                empty = stored.empty + fresh.empty, records = stored.records + fresh.records,
                skipped = stored.skipped + fresh.skipped, last_at = now()
            FROM new_ranges AS fresh WHERE {follows}""",
        names,
    )
    connection.unregister("new_ranges")


def stored_positions(connection: duckdb.DuckDBPyConnection, source: str, judge_version: str) -> dict[int, int]:
    """Where each partition goes on for this judge."""
    rows = connection.execute(
        f"""SELECT part, next_offset FROM lake.ledger
            WHERE source || '' = ? AND judge_version || '' = ? AND state || '' = '{OPEN}'""",
        [source, judge_version],
    ).fetchall()
    return {int(part): int(offset) for part, offset in rows if offset is not None}


def stored_note(connection: duckdb.DuckDBPyConnection, source: str, judge_version: str) -> str:
    """The detail of a source's one ledger row: where a stream keeps what must move with its offsets."""
    row = connection.execute(
        "SELECT detail FROM lake.ledger WHERE source || '' = ? AND judge_version = ?", [source, judge_version]
    ).fetchone()
    return str(row[0] or "") if row else ""


def open_positions(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Every partition of every topic and judge, with the note of its last batch."""
    return connection.execute(
        f"""SELECT source, part, judge_version, next_offset, detail, run_id, updated_at FROM lake.ledger
            WHERE state = '{OPEN}' AND next_offset IS NOT NULL ORDER BY source, judge_version, part"""
    ).to_arrow_table()


def stored_ranges(connection: duckdb.DuckDBPyConnection, judge_version: str | None = None) -> pa.Table:
    """Every range settled, in the order of offsets."""
    return connection.execute(
        """SELECT * FROM lake.stream_ranges WHERE $judge IS NULL OR judge_version = $judge
           ORDER BY source, judge_version, part, first_at, first_offset""",
        {"judge": judge_version},
    ).to_arrow_table()
