"""From Arrow to plain records, in the open: how large a table is once unfolded, and what to do with cells no one reads.

Texts are read as dictionaries, which hold a text once however often it is named. So the size of the plain records is
known before anything of that size is made.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc

Types = Callable[[pa.DataType], pa.DataType]


def unfolded_bytes(table: pa.Table) -> int:
    """The bytes a table comes to when every text stands wherever it is named."""
    return sum(_bytes(chunk) for column in table.columns for chunk in column.chunks)


def records_of(table: pa.Table) -> list[dict[str, Any]]:
    """The rows as plain dictionaries; text that is no UTF-8 stays bytes, a time no clock can hold its number.

    A map is a dictionary too, so that its entries are found by their names, as in any nested column. Bytes that are
    UTF-8 are text: writers from before Parquet had texts leave it to the reader to know them.
    """
    names = table.column_names
    table = table.cast(pa.schema([pa.field(field.name, _changed(field.type, _as_is)) for field in table.schema]))
    try:
        columns = [_plain(column) for column in table.columns]
    except (ValueError, OverflowError):
        columns = [_cells(column) for column in table.columns]
    return [dict(zip(names, cells, strict=True)) for cells in zip(*columns, strict=True)]


def _bytes(array: pa.Array) -> int:
    kind = array.type
    if pa.types.is_dictionary(kind) and _is_text(kind.value_type):
        lengths = pc.binary_length(array.dictionary).cast(pa.int64())
        return int(pc.sum(lengths.take(array.indices)).as_py() or 0)
    if pa.types.is_struct(kind):
        return sum(_bytes(one) for one in array.flatten())
    if pa.types.is_map(kind):
        first, last = (array.offsets[place].as_py() for place in (0, -1))
        return _bytes(array.keys[first:last]) + _bytes(array.items[first:last])
    if _is_list(kind) or pa.types.is_fixed_size_list(kind):
        return _bytes(array.flatten())
    return int(array.nbytes)


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _changed(kind: pa.DataType, text: Types) -> pa.DataType:
    """A type without dictionaries in it, with ``text`` in place of every kind of text."""
    if pa.types.is_dictionary(kind):
        return _changed(kind.value_type, text)
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(one.name, _changed(one.type, text)) for one in kind])
    if pa.types.is_map(kind):
        return pa.map_(_changed(kind.key_type, text), _changed(kind.item_type, text))
    if _is_list(kind) or pa.types.is_fixed_size_list(kind):
        return pa.large_list(_changed(kind.value_type, text))
    return text(kind) if _is_text(kind) else kind


def _as_is(kind: pa.DataType) -> pa.DataType:
    return kind


def _maps(kind: pa.DataType) -> Literal["lossy"] | None:
    """How Arrow is to give out the maps in a type: as dictionaries, or as lists of pairs where a key is no name."""
    if pa.types.is_map(kind) and not _is_text(kind.key_type):
        return None
    inner = [kind.field(place).type for place in range(kind.num_fields)]
    return "lossy" if all(map(_maps, inner)) else None


def _plain(column: pa.ChunkedArray) -> list[Any]:
    values: list[Any] = column.to_pylist(maps_as_pydicts=_maps(column.type))
    return [texts(value) for value in values] if _has_bytes(column.type) else values


def _has_bytes(kind: pa.DataType) -> bool:
    """Whether a type holds bytes of any length; those of one length are hashes and the like."""
    if pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_binary_view(kind):
        return True
    return any(_has_bytes(kind.field(place).type) for place in range(kind.num_fields))


def _cells(column: pa.ChunkedArray) -> list[Any]:
    """Cell by cell, texts as bytes first, so that one that cannot be read spoils no other."""
    cells = []
    maps = _maps(column.type)
    for cell in column.cast(_changed(column.type, lambda _: pa.large_binary())):
        try:
            cells.append(texts(cell.as_py(maps_as_pydicts=maps)))
        except (ValueError, OverflowError):
            cells.append(_in_utc(cell) or f"{column.type} {getattr(cell, 'value', 'unreadable')}")
    return cells


def _in_utc(cell: pa.Scalar[Any]) -> datetime | None:
    """A moment whose zone this machine does not know: Parquet holds it in UTC, and the zone is for show."""
    kind = cell.type
    if not pa.types.is_timestamp(kind) or kind.tz is None:
        return None
    try:
        moment: datetime = cell.cast(pa.timestamp(kind.unit, "UTC")).as_py()
    except (ValueError, OverflowError):
        return None
    return moment


def texts(value: Any) -> Any:
    """A value with text in place of all bytes in it that are UTF-8."""
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return value
    if isinstance(value, dict):
        return {_name(key): texts(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(texts(one) for one in value)
    return value


def _name(key: str | bytes) -> str:
    return key if isinstance(key, str) else key.decode(errors="backslashreplace")
