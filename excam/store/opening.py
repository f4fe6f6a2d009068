"""What is looked at before a store is used: that its data is there, and that its tables are those of this version."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.fs as fs

from excam.fault import UserError
from excam.place import open_place
from excam.store.connection import attempt
from excam.store.lease import take_lease
from excam.store.schema import Migration, make_tables, migrate_step, stored_version, table_names
from excam.store.url import StoreUrl

MIGRATION_WAIT = 60.0


def check_data(url: StoreUrl, connection: duckdb.DuckDBPyConnection) -> None:
    """Say at once that the folder is gone: single files are waited for, as somebody may just have replaced them."""
    here = url.data_path is None or "://" in url.data_path or Path(url.data_path).is_dir()
    tables = [] if here else attempt(lambda: table_names(connection))
    if tables:
        raise UserError(
            f"the data files of the store {url} are missing: there is no folder {url.data_path}",
            "put the folder back, or make a new store from a backup with: excam store restore",
        )


def _refuse_taken(url: StoreUrl, connection: duckdb.DuckDBPyConnection) -> None:
    """Make no store over another one's data: what its catalogue does not know, a store removes as left behind."""
    # Texts come after tables. So where these are still missing, the texts are not of a store that was just made here.
    if url.data_path and _holds_texts(url.data_path) and attempt(lambda: stored_version(connection)) == 0:
        raise UserError(
            f"{url.data_path} holds the data of another store than {url}",
            "name another catalogue, or another folder with ?data_path=FOLDER; if its catalogue is lost, move it away",
        )


def _holds_texts(data_path: str) -> bool:
    try:
        filesystem, path = open_place(f"{data_path}/lake/main/texts")
        return bool(filesystem.get_file_info(fs.FileSelector(path, allow_not_found=True)))
    except (OSError, ValueError, pa.ArrowException):
        return False  # a place that cannot be looked at: the first write will tell why


def migrate(
    url: StoreUrl, connection: duckdb.DuckDBPyConnection, version: int, migrations: Sequence[Migration]
) -> None:
    """Make the tables of a new store; change those of an existing one only while nobody else writes."""
    if version == 0:
        _refuse_taken(url, connection)
        make_tables(connection, migrations)
        version = attempt(lambda: stored_version(connection))
    later = [migration for migration in migrations if migration.version > version]
    if later:
        with take_lease(url, connection, "migrating the store", wait=MIGRATION_WAIT):
            for migration in later:
                migrate_step(connection, migration)
