"""Read a section of a Parquet log as plain records, unit by unit, without letting a broken page end the run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.files import UNREADABLE, plain
from pipelines.reach import LostError, Patience, WatchedFile, reached
from pipelines.unfold import records_of, unfolded_bytes
from pipelines.units import UNIT_BYTES, Section

# A file of two kilobytes may unfold to gigabytes, by compression and by naming one long text a thousand times. A unit
# is planned to be of UNIT_BYTES; what comes to this many times as much is not read.
MOST_BYTES = 32 * UNIT_BYTES
_TEXTS = ("STRING", "JSON", "ENUM", "NONE")


@dataclass(frozen=True)
class Unit:
    """The records of one unit, or, where the file is broken, why they could not be read."""

    part: int
    first_row: int
    rows: int
    records: list[dict[str, Any]]
    broken: str | None = None


def read_units(section: Section, patience: Patience | None = None) -> Iterator[Unit]:
    """The units of a section that are not done; what cannot be read comes as broken units, never as nothing.

    Where the file is out of reach it is waited for, and at last an :class:`OutOfReachError` says so.
    """
    patience = patience or Patience()
    patience.ask(section.uri)
    given = set(section.done)
    while True:
        try:
            for unit in _units(section, given):
                given.add(unit.part)
                patience.reward()
                yield unit
            return
        except LostError as error:
            patience.wait(section.uri, error)


def _units(section: Section, given: set[int]) -> Iterator[Unit]:
    """The units that are not among those given, read from the beginning of the section."""
    parts = iter(section.parts)
    row = 0
    with reached(section.uri) as stream:
        try:
            for table in _tables(_open(stream, section), section):
                part = next(parts)
                if part not in given:
                    yield _unit(table, part, section.first_row + row)
                row += table.num_rows
            if row < section.rows:
                raise OSError("the file holds fewer rows than it says")
        except UNREADABLE as error:
            if stream.lost:
                raise
            for part in parts:
                rows = min(section.unit_rows, section.rows - row)
                if part not in given:
                    yield Unit(part, section.first_row + row, rows, [], plain(error))
                row += rows


def _open(stream: WatchedFile, section: Section) -> pq.ParquetFile:
    """The file, read so that a text which stands there once and is named many times is held once."""
    metadata = pq.read_metadata(stream)
    group = metadata.row_group(section.group)
    if group.num_rows != section.rows:
        raise OSError("the file changed after the run was planned")
    if group.total_byte_size > MOST_BYTES * section.rows:
        raise OSError(f"a row holds {group.total_byte_size // section.rows:,} bytes, at most {MOST_BYTES:,} are read")
    columns = [metadata.schema.column(place) for place in range(metadata.num_columns)]
    texts = [one.path for one in columns if one.physical_type == "BYTE_ARRAY" and one.logical_type.type in _TEXTS]
    return pq.ParquetFile(stream, metadata=metadata, read_dictionary=texts, pre_buffer=False, buffer_size=1 << 20)


def _unit(table: pa.Table, part: int, first_row: int) -> Unit:
    try:
        size = unfolded_bytes(table)
        if size > MOST_BYTES:
            raise OSError(f"they unfold to {size:,} bytes, at most {MOST_BYTES:,} are read")
        return Unit(part, first_row, table.num_rows, records_of(table))
    except UNREADABLE as error:
        return Unit(part, first_row, table.num_rows, [], plain(error))


def _tables(file: pq.ParquetFile, section: Section) -> Iterator[pa.Table]:
    """Tables of exactly ``unit_rows`` rows (the last may be shorter), however the reader cuts its batches."""
    held: list[pa.RecordBatch] = []
    count = 0
    for batch in file.iter_batches(batch_size=section.unit_rows, row_groups=[section.group], use_threads=False):
        while batch.num_rows:
            taken = batch.slice(0, section.unit_rows - count)
            held.append(taken)
            count += taken.num_rows
            batch = batch.slice(taken.num_rows)
            if count == section.unit_rows:
                yield pa.Table.from_batches(held)
                held, count = [], 0
    if held:
        yield pa.Table.from_batches(held)


def record_json(record: dict[str, Any]) -> str:
    """The original record as JSON for the dead letters; bytes are kept with their escapes rather than lost."""

    def plain_value(value: Any) -> str:
        return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)

    return json.dumps(record, ensure_ascii=False, default=plain_value).encode("utf-8", "replace").decode()
