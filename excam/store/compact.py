"""Housekeeping: a store that commits every few seconds grows many small files, and keeps every version of itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import duckdb

from excam.store.connection import attempt
from excam.store.lease import Lease, LeaseLostError

# Readers go on with the files of the version they began with, so files stay for a while after they were replaced.
KEEP_VERSIONS = timedelta(days=1)
KEEP_FILES = timedelta(hours=1)
# What a stream merges between two batches: verdicts are sorted anew, all that lie in one file, in its own memory.
SMALL_FILE = 8_000_000


@dataclass(frozen=True)
class Size:
    """What a store is made of."""

    files: int
    bytes: int
    versions: int


def store_size(connection: duckdb.DuckDBPyConnection) -> Size:
    """How many data files, bytes and versions the store holds."""
    files = connection.execute(
        "SELECT sum(file_count), sum(file_size_bytes) FROM ducklake_table_info('lake')"
    ).fetchone()
    versions = connection.execute("SELECT count(*) FROM ducklake_snapshots('lake')").fetchone()
    assert files is not None
    assert versions is not None
    return Size(int(files[0] or 0), int(files[1] or 0), int(versions[0]))


def compact(
    connection: duckdb.DuckDBPyConnection,
    lease: Lease,
    keep_versions: timedelta = KEEP_VERSIONS,
    keep_files: timedelta = KEEP_FILES,
    below: int | None = None,
) -> tuple[Size, Size]:
    """Merge small files, forget old versions and remove the files nothing refers to; the size before and after.

    Rows kept in the catalogue are written out, files with many deleted rows are rewritten, and what a killed writer
    left behind is removed once it is older than ``keep_files``. Files of ``below`` bytes and more stay as they are;
    without it they are merged into files of DuckLake's size. It runs under the lease, in steps that are each a
    commit of their own: stopping it half way leaves a whole store.
    """
    before = store_size(connection)
    versions, files = _ago(keep_versions), _ago(keep_files)
    which = "" if below is None else f", max_file_size => {below}"
    for step in (
        "CALL ducklake_flush_inlined_data('lake')",
        f"CALL ducklake_expire_snapshots('lake', older_than => {versions})",
        "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0.1)",
        f"CALL ducklake_merge_adjacent_files('lake'{which})",
        f"CALL ducklake_expire_snapshots('lake', older_than => {versions})",
        f"CALL ducklake_cleanup_old_files('lake', older_than => {files})",
        f"CALL ducklake_delete_orphaned_files('lake', older_than => {files})",
    ):
        if lease.lost:
            raise LeaseLostError
        attempt(partial(_run, connection, step))
    return before, store_size(connection)


def _run(connection: duckdb.DuckDBPyConnection, step: str) -> None:
    connection.execute(step).to_arrow_table()


def _ago(span: timedelta) -> str:
    return f"now() - INTERVAL '{span.total_seconds():.0f} seconds'"
