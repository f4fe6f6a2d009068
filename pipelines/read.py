"""Read a section of a Parquet log as plain records, unit by unit, without letting a broken page end the run."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from excam.shapes import DEEPEST
from pipelines.files import open_filesystem, plain
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


def read_units(section: Section) -> Iterator[Unit]:
    """The units of a section that are not done; what cannot be read comes as broken units, never as nothing."""
    done = set(section.done)
    parts = iter(section.parts)
    row = 0
    filesystem, path = open_filesystem(section.uri)
    try:
        with filesystem.open_input_file(path) as stream:
            file = _open(stream, section)
            for table in _tables(file, section):
                part = next(parts)
                if part not in done:
                    yield _unit(table, part, section.first_row + row)
                row += table.num_rows
    except (OSError, pa.ArrowException) as error:
        for part in parts:
            rows = min(section.unit_rows, section.rows - row)
            if part not in done:
                yield Unit(part, section.first_row + row, rows, [], plain(error))
            row += rows


def _open(stream: pa.NativeFile, section: Section) -> pq.ParquetFile:
    """The file, read so that a text which stands there once and is named many times is held once."""
    metadata = pq.read_metadata(stream)
    group = metadata.row_group(section.group)
    if group.num_rows != section.rows:
        raise OSError("the file changed after the run was planned")
    if group.total_byte_size > MOST_BYTES * section.rows:
        raise OSError(f"a row holds {group.total_byte_size // section.rows:,} bytes, at most {MOST_BYTES:,} are read")
    columns = [metadata.schema.column(place) for place in range(metadata.num_columns)]
    if any(column.path.count(".") >= DEEPEST for column in columns):
        raise OSError(f"columns are nested deeper than {DEEPEST} levels")
    texts = [one.path for one in columns if one.physical_type == "BYTE_ARRAY" and one.logical_type.type in _TEXTS]
    return pq.ParquetFile(
        stream, metadata=metadata, read_dictionary=texts, pre_buffer=False, buffer_size=1 << 20
    )


def _unit(table: pa.Table, part: int, first_row: int) -> Unit:
    size = sum(_unfolded(chunk) for column in table.columns for chunk in column.chunks)
    if size > MOST_BYTES:
        said = f"they unfold to {size:,} bytes, at most {MOST_BYTES:,} are read"
        return Unit(part, first_row, table.num_rows, [], said)
    plain_types = pa.schema([pa.field(field.name, _plain_type(field.type)) for field in table.schema])
    return Unit(part, first_row, table.num_rows, _records(table.cast(plain_types)))


def _unfolded(array: pa.Array) -> int:
    """The bytes an array comes to when every text stands where it is named."""
    if pa.types.is_dictionary(array.type):
        lengths = pc.binary_length(array.dictionary).cast(pa.int64())
        return int(pc.sum(lengths.take(array.indices)).as_py() or 0)
    if pa.types.is_struct(array.type):
        return sum(_unfolded(one) for one in array.flatten())
    if pa.types.is_map(array.type):
        inside = slice(array.offsets[0].as_py(), array.offsets[-1].as_py())
        return _unfolded(array.keys[inside]) + _unfolded(array.items[inside])
    if pa.types.is_list(array.type) or pa.types.is_large_list(array.type) or pa.types.is_fixed_size_list(array.type):
        return _unfolded(array.flatten())
    return int(array.nbytes)


def _plain_type(kind: pa.DataType) -> pa.DataType:
    """A type without dictionaries."""
    if pa.types.is_dictionary(kind):
        return kind.value_type
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(one.name, _plain_type(one.type)) for one in kind])
    if pa.types.is_map(kind):
        return pa.map_(_plain_type(kind.key_type), _plain_type(kind.item_type))
    if pa.types.is_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.list_(_plain_type(kind.value_type))
    return pa.large_list(_plain_type(kind.value_type)) if pa.types.is_large_list(kind) else kind


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
