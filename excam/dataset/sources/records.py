"""Reads the records of a file in any of the formats the sources are published in; what cannot be read is a value."""

from __future__ import annotations

import csv
import gzip
import importlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Annotated, Any, TypeVar, cast

from pydantic import BaseModel, ConfigDict, StringConstraints, ValidationError

from excam.dataset.item import BadRecord
from excam.fault import UserError

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text with something in it, its outer white space taken off; text that is not valid Unicode is refused."""

UNREAD = "file: cannot be read from here on"
"""How the reason begins that stands for all records from a place on, however many there were."""

Fields = dict[str, Any]
LONGEST_CSV_FIELD = 50_000_000
_UNREADABLE = (OSError, EOFError, zlib.error, zipfile.BadZipFile, ValueError, KeyError, csv.Error, RuntimeError)
"""How a damaged file shows itself: truncated or foreign compression, a password, wrong encoding, a broken table."""


class Row(BaseModel):
    """A record in its source's own schema: the fields we use, whatever else the publisher keeps beside them."""

    model_config = ConfigDict(extra="ignore", frozen=True, populate_by_name=True, coerce_numbers_to_str=True)


R = TypeVar("R", bound=Row)


def read_rows(source: str, path: Path, form: type[R]) -> Iterator[tuple[str, R] | BadRecord]:
    """Every record of ``path`` in its ``form`` with its place; a record that does not fit names its first bad field."""
    for place, fields in read_records(source, path):
        if isinstance(fields, BadRecord):
            yield fields
            continue
        try:
            yield place, form.model_validate(fields)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = ".".join(str(part) for part in first["loc"]) or "record"
            yield BadRecord(source=source, place=place, reason=f"{field}: {first['msg']}")


def read_records(source: str, path: Path) -> Iterator[tuple[str, Fields | BadRecord]]:
    """The records of one file with their places (``folder/file:line``, counted from 1)."""
    name = f"{path.parent.name}/{path.name}"
    number = 0
    try:
        for number, fields in enumerate(_open(path), start=1):
            place = f"{name}:{number}"
            if isinstance(fields, dict):
                yield place, fields
            else:
                foreign = f"record: {type(fields).__name__} where an object belongs"
                reason = str(fields) if isinstance(fields, ValueError) else foreign
                yield place, BadRecord(source=source, place=place, reason=reason)
    except _UNREADABLE as error:
        place = f"{name}:{number + 1}"
        reason = f"{UNREAD} ({type(error).__name__}: {error})"
        yield place, BadRecord(source=source, place=place, reason=reason)


def _open(path: Path) -> Iterator[Any]:
    suffixes = [suffix.lower() for suffix in path.suffixes]
    packing = suffixes.pop() if suffixes and suffixes[-1] in (".gz", ".zip") else ""
    kind = suffixes[-1] if suffixes else ""
    if kind == ".parquet":
        yield from _parquet(path)
    elif kind == ".xlsx":
        yield from _spreadsheet(path)
    else:
        with _unpacked(path, packing) as stream:
            if kind == ".jsonl":
                yield from _json_lines(stream)
            elif kind == ".json":
                yield from _json(stream)
            else:
                yield from _table(stream, "\t" if kind == ".tsv" else ",")


def _unpacked(path: Path, packing: str) -> IO[bytes]:
    if packing == ".gz":
        return cast(IO[bytes], gzip.open(path, "rb"))
    if packing == ".zip":
        with zipfile.ZipFile(path) as archive:
            members = [one for one in archive.infolist() if not (one.is_dir() or one.filename.startswith("__MACOSX"))]
            return io.BytesIO(archive.read(members[0])) if members else io.BytesIO()
    return path.open("rb")


def _json_lines(stream: IO[bytes]) -> Iterator[Any]:
    for line in stream:
        try:
            yield json.loads(line)
        except (ValueError, RecursionError) as error:
            yield ValueError(f"line: not JSON ({getattr(error, 'msg', type(error).__name__)})")


def _json(stream: IO[bytes]) -> Iterator[Any]:
    text = stream.read()
    try:
        found = json.loads(text)
    except ValueError:
        if text.count(b"\n") < 2:
            raise
        yield from _json_lines(io.BytesIO(text))
        return
    if isinstance(found, dict) and len(found) == 1 and isinstance(next(iter(found.values())), list):
        found = next(iter(found.values()))
    if isinstance(found, dict) and found and all(isinstance(value, dict) for value in found.values()):
        found = [{"key": key, **value} for key, value in found.items()]
    yield from found if isinstance(found, list) else [found]


def _table(stream: IO[bytes], delimiter: str) -> Iterator[Any]:
    csv.field_size_limit(LONGEST_CSV_FIELD)
    text = io.TextIOWrapper(stream, encoding="utf-8-sig", errors="surrogateescape", newline="")
    for fields in csv.DictReader(text, delimiter=delimiter):
        if None in fields or None in fields.values():
            yield ValueError("row: more or fewer fields than the header")
        else:
            yield fields


def _parquet(path: Path) -> Iterator[Fields]:
    import pyarrow.parquet as pq

    table = pq.ParquetFile(path)
    labels = _class_labels(table.schema_arrow.metadata or {})
    for batch in table.iter_batches():
        for fields in batch.to_pylist():
            yield {key: _label(labels.get(key), value) for key, value in fields.items()}


def _class_labels(metadata: dict[bytes, bytes]) -> dict[str, list[str]]:
    """Names of enumerated columns, which the hub's Parquet files keep as numbers and explain in their metadata."""
    described = json.loads(metadata.get(b"huggingface", b"{}"))
    features = described.get("info", {}).get("features", {})
    return {
        key: feature["names"] for key, feature in features.items() if isinstance(feature, dict) and "names" in feature
    }


def _label(names: list[str] | None, value: Any) -> Any:
    return names[value] if names and isinstance(value, int) and 0 <= value < len(names) else value


def _spreadsheet(path: Path) -> Iterator[Fields]:
    try:
        openpyxl = importlib.import_module("openpyxl")
    except ImportError as error:
        raise UserError(f"{path.name} is a spreadsheet, which needs openpyxl", "pip install openpyxl") from error
    sheet = openpyxl.load_workbook(path, read_only=True, data_only=True).worksheets[0]
    rows = sheet.iter_rows(values_only=True)
    header = [str(name) for name in next(rows, ())]
    for row in rows:
        yield dict(zip(header, row, strict=False))
