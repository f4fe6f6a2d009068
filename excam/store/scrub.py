"""Getting rid of the bytes: a deleted row is only hidden until files, versions and catalogue are written anew.

A row that was deleted is still in its Parquet file, in the versions before, in the least and greatest values that the
catalogue keeps of a table's columns, in free pages of SQLite or dead rows of PostgreSQL, and perhaps in what a killed
run had staged. All of these go here. What lies outside the store does not: logs, topics, snapshots, backups, a server's
write-ahead log and the blocks of a disk.
"""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import duckdb

from excam.fault import UserError
from excam.store.connection import attempt
from excam.store.lease import Lease, LeaseLostError
from excam.store.url import StoreUrl, quote

_META = "__ducklake_metadata_lake"

# A file that the catalogue does not know was left by a writer that died, or is about to be committed. In these tables
# it is the former: whoever writes them needs the lease, which is ours. In others, such as reviews, its age has to tell.
_LEASED = ("texts", "pairs", "verdicts", "errors", "dead_letters")
_LONGEST_COMMIT = "INTERVAL '10 minutes'"

# DuckLake removes orphans of all tables or of none, so those of some are put among the files that it has yet to remove,
# under numbers that its own will not reach.
_SCHEDULE_ORPHANS = f"""
    INSERT INTO {_META}.ducklake_files_scheduled_for_deletion (data_file_id, path, path_is_relative, schedule_start)
    SELECT 9e18::BIGINT + row_number() OVER (), path, false, now()
    FROM ducklake_delete_orphaned_files('lake', dry_run => true, cleanup_all => true)
    WHERE regexp_matches(path, '/main/({"|".join(_LEASED)})/([^/=]+=[^/]*/)*[^/]+$')"""

# Deleted rows are rewritten away wherever there are any, and nothing older than now is kept.
_STEPS = (
    "CALL ducklake_rewrite_data_files('lake', delete_threshold => 0)",
    "CALL ducklake_expire_snapshots('lake', older_than => now())",
    f"CALL ducklake_delete_orphaned_files('lake', older_than => now() - {_LONGEST_COMMIT})",
    _SCHEDULE_ORPHANS,
    "CALL ducklake_cleanup_old_files('lake', cleanup_all => true)",
)

# DuckLake never takes a deleted row's value back out of these. It does without them, and prunes by those of each file.
_FORGET_EXTREMES = f"""
    UPDATE {_META}.ducklake_table_column_stats SET min_value = NULL, max_value = NULL
    WHERE (table_id, column_id) IN (
        SELECT (table_id, column_id) FROM {_META}.ducklake_column WHERE lower(column_type) = 'varchar')"""

# Python's SQLite must not open a file that DuckDB's has open in the same process (decision 041), so a child does it.
_VACUUM_SQLITE = """
import sqlite3, sys
with sqlite3.connect(sys.argv[1], timeout=30, isolation_level=None) as catalogue:
    catalogue.execute("VACUUM")
    busy, *_ = catalogue.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
catalogue.close()
sys.exit(3 if busy else 0)
"""


def scrub(url: StoreUrl, connection: duckdb.DuckDBPyConnection, lease: Lease) -> None:
    """Write anew whatever may still hold deleted rows; it can be stopped anywhere and run again.

    Versions of the store before now are gone afterwards. A reader that is in the middle of a query finds its files
    missing and asks again (:func:`excam.store.connection.attempt`).
    """
    for step in (*_STEPS, _FORGET_EXTREMES):
        if lease.lost:
            raise LeaseLostError
        attempt(partial(_run, connection, step))
    if url.path is not None:
        _vacuum_file(url)
    else:
        _vacuum_server(connection)


def _vacuum_file(url: StoreUrl) -> None:
    """Rewrite a SQLite catalogue without its free pages and empty its write-ahead log."""
    command = [sys.executable, "-c", _VACUUM_SQLITE, str(url.path)]
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode:
        reason = done.stderr.strip().rpartition("\n")[2] or "readers kept its write-ahead log busy"
        raise UserError(
            f"the catalogue {url.path} could not be rewritten, so it may still hold words of deleted pairs: {reason}",
            "let readers such as a dashboard pause, then run the same command again",
        )


def _vacuum_server(connection: duckdb.DuckDBPyConnection) -> None:
    """Rewrite DuckLake's own tables on the server, and then its statistics: the planner's samples are words, too."""
    tables = _ask(
        connection, "SELECT format('%I.%I', schemaname, tablename) FROM pg_tables WHERE tablename ~ '^ducklake'"
    )
    for (table,) in tables:
        _vacuum(connection, f"(FULL, ANALYZE) {table}")
    if not _ask(
        connection, "SELECT 1 FROM pg_database WHERE datname = current_database() AND pg_has_role(datdba, 'USAGE')"
    ):
        raise UserError(
            "only its owner may rewrite a PostgreSQL database's statistics: they may still hold words of deleted pairs",
            "have the owner run VACUUM (FULL) pg_catalog.pg_statistic, or make the store's user the owner",
        )
    _vacuum(connection, "(FULL) pg_catalog.pg_statistic")


def _ask(connection: duckdb.DuckDBPyConnection, query: str) -> list[tuple[str, ...]]:
    return attempt(lambda: connection.execute(f"FROM postgres_query('{_META}', {quote(query)})").fetchall())


def _vacuum(connection: duckdb.DuckDBPyConnection, what: str) -> None:
    step = f"CALL postgres_execute('{_META}', {quote(f'VACUUM {what}')}, use_transaction => false)"
    attempt(partial(_run, connection, step))


def _run(connection: duckdb.DuckDBPyConnection, step: str) -> None:
    connection.execute(step).to_arrow_table()
