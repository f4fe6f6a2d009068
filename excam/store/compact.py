"""Housekeeping: a store that commits every few seconds grows many small files, and keeps every version of itself."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial

import duckdb

from excam.store.connection import attempt
from excam.store.lease import Lease, LeaseLostError
from excam.store.schema import table_names

# Readers go on with the files of the version they began with, so files stay for a while after they were replaced.
KEEP_VERSIONS = timedelta(days=1)
KEEP_FILES = timedelta(hours=1)
# What a stream merges between two batches, so that its work hangs on what came since and not on the store.
SMALL_FILE = 8_000_000
# Verdicts are sorted within a file, and a sort holds all rows of it, so their files are small (migration 9). One that
# is nearly as large as they become stays as it is.
SORTED = "verdicts"
SORTED_FILE = 12_000_000


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
    without it they are merged into files of DuckLake's size, verdicts always into small ones. It runs under the lease,
    in steps that are each a commit of their own: stopping it half way leaves a whole store.
    """

    def call(step: str) -> int:
        """Run one step; how many rows it tells of what it did."""
        if lease.lost:
            raise LeaseLostError
        return attempt(partial(_run, connection, f"CALL ducklake_{step}"))

    before = store_size(connection)
    versions, files = f"older_than => {_ago(keep_versions)}", f"older_than => {_ago(keep_files)}"
    call("flush_inlined_data('lake')")
    call(f"expire_snapshots('lake', {versions})")
    call("rewrite_data_files('lake', delete_threshold => 0.1)")
    for table in table_names(connection):
        most = SORTED_FILE if table == SORTED else below
        which = "" if most is None else f", max_file_size => {most}"
        while call(f"merge_adjacent_files('lake', '{table}', max_compacted_files => 1{which})"):
            pass  # one file at a time: what several take in memory adds up
    call(f"expire_snapshots('lake', {versions})")
    call(f"cleanup_old_files('lake', {files})")
    call(f"delete_orphaned_files('lake', {files})")
    return before, store_size(connection)


def _run(connection: duckdb.DuckDBPyConnection, step: str) -> int:
    return int(connection.execute(step).to_arrow_table().num_rows)


def _ago(span: timedelta) -> str:
    return f"now() - INTERVAL '{span.total_seconds():.0f} seconds'"
