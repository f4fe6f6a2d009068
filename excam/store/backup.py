"""Copies of a store that outlive it: every table at one moment as Parquet, with a manifest that proves it whole.

A backup is rows, not files and a catalogue, so it can be taken while a writer commits, read by anything, and restored
into either kind of catalogue, at any place, by this version of ExCAM or a later one. The ledger and the topics' offsets
are among the rows: a restored store goes on where the backup was taken and judges nothing twice. Versions of the store
from before that moment are not kept.
"""

from __future__ import annotations

import glob
import hashlib
import re
import secrets
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
from pyarrow import fs
from pydantic import BaseModel, ConfigDict, ValidationError

from excam.fault import UserError
from excam.place import open_place, require_place
from excam.store.connection import attempt
from excam.store.portions import VECTOR, portions
from excam.store.schema import stored_version, table_names
from excam.store.url import quote

MANIFEST = "manifest.json"
ROW_GROUP = 122_880  # rows, unless their texts are long

_NAME = re.compile(r"excam-\d{8}T\d{6}-[0-9a-f]{4}")

# The new store makes these itself: which version it has, and who may write to it.
_OWN = {"store_meta", "leases"}


class Part(BaseModel):
    """One table of a backup: its file is in the folder under the table's name."""

    model_config = ConfigDict(frozen=True)

    rows: int
    sha256: str


class Manifest(BaseModel):
    """What a backup holds. It is written last: a folder without one is no backup."""

    model_config = ConfigDict(frozen=True)

    schema_version: int
    taken_at: datetime
    store: str
    tables: dict[str, Part]

    @property
    def rows(self) -> dict[str, int]:
        return {name: part.rows for name, part in self.tables.items()}


def write_backup(connection: duckdb.DuckDBPyConnection, store: str, into: str) -> tuple[str, Manifest]:
    """Write all tables as they are at one moment to a new folder below ``into``; where it is and what it holds."""
    require_place(into, "place for the backup")
    taken_at = datetime.now(UTC)
    folder = f"{into.rstrip('/')}/excam-{taken_at:%Y%m%dT%H%M%S}-{secrets.token_hex(2)}"
    filesystem, path = _open(folder)
    filesystem.create_dir(path, recursive=True)
    # Files of this moment may be removed under the copy, when somebody's data is deleted: then it begins anew.
    version, tables = attempt(lambda: _copy_tables(connection, filesystem, path))
    manifest = Manifest(schema_version=version, taken_at=taken_at, store=store, tables=tables)
    with filesystem.open_output_stream(f"{path}/{MANIFEST}") as stream:
        stream.write(manifest.model_dump_json(indent=2).encode())
    return folder, manifest


def is_backup(folder: str, names: Collection[str]) -> bool:
    """Whether a folder with these files is a backup: by its name while it has no manifest, else also renamed."""
    whole = {MANIFEST, "pairs.parquet", "texts.parquet", "verdicts.parquet"} <= set(names)
    return whole or bool(_NAME.fullmatch(folder.rstrip("/").rpartition("/")[2]))


def _copy_tables(
    connection: duckdb.DuckDBPyConnection, filesystem: fs.FileSystem, path: str
) -> tuple[int, dict[str, Part]]:
    """Read everything in one transaction, so that all tables are of one version of the store."""
    connection.execute("BEGIN")
    try:
        names = [name for name in table_names(connection) if name not in _OWN]
        parts = {name: _copy(connection, name, filesystem, f"{path}/{name}.parquet") for name in names}
        return stored_version(connection), parts
    finally:
        connection.execute("ROLLBACK")


def _copy(connection: duckdb.DuckDBPyConnection, table: str, filesystem: fs.FileSystem, path: str) -> Part:
    reader = connection.execute(f"FROM lake.{table}").to_arrow_reader(VECTOR)
    rows = 0
    with filesystem.open_output_stream(path) as stream, pq.ParquetWriter(stream, reader.schema) as writer:
        for group in portions(reader, ROW_GROUP):
            writer.write_table(group)
            rows += group.num_rows
    return Part(rows=rows, sha256=_digest(filesystem, path))


def read_manifest(folder: str) -> Manifest:
    """The manifest of a backup, with every file it names found to be there and unharmed."""
    filesystem, path = _open(folder)
    try:
        with filesystem.open_input_stream(f"{path}/{MANIFEST}") as stream:
            manifest = Manifest.model_validate_json(stream.read())
    except FileNotFoundError:
        raise UserError(
            f"there is no backup in {folder}: it has no {MANIFEST}",
            "name the folder that `excam store backup` printed; one without a manifest was cut short",
        ) from None
    except ValidationError as error:
        raise UserError(
            f"{folder}/{MANIFEST} cannot be read: {error.errors()[0]['msg']}", "use another backup"
        ) from None
    for name, part in manifest.tables.items():
        try:
            same = _digest(filesystem, f"{path}/{name}.parquet") == part.sha256
        except FileNotFoundError:
            same = False
        if not same:
            raise UserError(f"{folder}/{name}.parquet is missing or was changed since", "use another backup")
    return manifest


def load_backup(connection: duckdb.DuckDBPyConnection, folder: str, manifest: Manifest) -> None:
    """Fill an empty store's tables from a backup, inside the caller's transaction, and count what came."""
    filesystem, path = _open(folder)
    if held := [name for name in manifest.tables if _count(connection, name)]:
        raise UserError(f"the store to restore into is not empty: it holds {', '.join(held)}", "name a new place")
    for name, part in manifest.tables.items():
        if not part.rows:
            continue
        with _at_hand(filesystem, f"{path}/{name}.parquet") as file:
            connection.execute(f"INSERT INTO lake.{name} BY NAME FROM read_parquet({quote(glob.escape(file))})")
    counted = {name: _count(connection, name) for name in manifest.tables}
    if counted != manifest.rows:
        raise RuntimeError(f"the restored tables hold {counted} rows, the backup {manifest.rows}")


@contextmanager
def _at_hand(filesystem: fs.FileSystem, path: str) -> Iterator[str]:
    """A file of a backup on this machine, where DuckDB reads it: rows that Arrow hands over escape its memory limit."""
    if isinstance(filesystem, fs.LocalFileSystem):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="excam-") as folder:
        copy = f"{folder}/table.parquet"
        fs.copy_files(path, copy, source_filesystem=filesystem, destination_filesystem=fs.LocalFileSystem())
        yield copy


def _count(connection: duckdb.DuckDBPyConnection, table: str) -> int:
    ((rows,),) = connection.execute(f"SELECT count(*) FROM lake.{table}").fetchall()
    return int(rows)


def _open(folder: str) -> tuple[fs.FileSystem, str]:
    """The file system of a local folder or an address such as ``s3://bucket/backups``, and the path in it."""
    try:
        return open_place(folder)
    except (ValueError, OSError, pa.ArrowException) as error:
        raise UserError(
            f"cannot open {folder}: {error}", "give a folder, or an address such as s3://bucket/x"
        ) from None


def _digest(filesystem: fs.FileSystem, path: str) -> str:
    digest = hashlib.sha256()
    with filesystem.open_input_stream(path) as stream:
        for chunk in _chunks(stream):
            digest.update(chunk)
    return digest.hexdigest()


def _chunks(stream: pa.NativeFile) -> Iterator[bytes]:
    while chunk := stream.read(1 << 20):
        yield chunk
