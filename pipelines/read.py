"""Read a section of a Parquet log as plain records, unit by unit, without letting a broken page end the run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.files import open_filesystem, plain
from pipelines.units import Section


@dataclass(frozen=True)
class Unit:
    """The records of one unit, or, where the file is broken, why they could not be read."""

    part: int
    first_row: int
    rows: int
    records: list[dict[str, Any]]
    broken: str | None = None


def read_units(section: Section) -> Iterator[Unit]:
    """The units of a section that are not done; what cannot be read comes as broken units, never as nothing."""
    done = set(section.done)
    parts = iter(section.parts)
    row = 0
    filesystem, path = open_filesystem(section.uri)
    try:
        with filesystem.open_input_file(path) as stream:
            file = pq.ParquetFile(stream, pre_buffer=False, buffer_size=1 << 20)
            if file.metadata.row_group(section.group).num_rows != section.rows:
                raise OSError("the file changed after the run was planned")
            for table in _tables(file, section):
                part = next(parts)
                if part not in done:
                    yield Unit(part, section.first_row + row, table.num_rows, _records(table))
                row += table.num_rows
    except (OSError, pa.ArrowException) as error:
        for part in parts:
            rows = min(section.unit_rows, section.rows - row)
            if part not in done:
                yield Unit(part, section.first_row + row, rows, [], plain(error))
            row += rows


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


def _records(table: pa.Table) -> list[dict[str, Any]]:
    try:
        records: list[dict[str, Any]] = table.to_pylist()
    except (UnicodeDecodeError, ValueError, OverflowError):
        columns = {name: _cells(table.column(name)) for name in table.column_names}
        records = [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]
    return records


def _cells(column: pa.ChunkedArray) -> list[Any]:
    """Cell by cell: text that is no UTF-8 stays bytes, and a time no clock can hold stays its text."""
    if pa.types.is_string(column.type) or pa.types.is_large_string(column.type):
        column = column.cast(pa.large_binary())
        return [None if cell is None else _text_or_bytes(cell) for cell in column.to_pylist()]
    cells = []
    for cell in column:
        try:
            cells.append(cell.as_py())
        except (UnicodeDecodeError, ValueError, OverflowError):
            cells.append(str(cell))
    return cells


def _text_or_bytes(cell: bytes) -> str | bytes:
    try:
        return cell.decode()
    except UnicodeDecodeError:
        return cell


def record_json(record: dict[str, Any]) -> str:
    """The original record as JSON for the dead letters; bytes are kept with their escapes rather than lost."""

    def plain_value(value: Any) -> str:
        return value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else str(value)

    return json.dumps(record, ensure_ascii=False, default=plain_value).encode("utf-8", "replace").decode()
