"""One way to reach a store: DuckDB in this process, DuckLake attached.

The catalogue's SQLite waits in whole seconds when it finds a lock, so it is told not to wait at all: a statement that
meets a lock fails at once and :func:`attempt` tries it again some milliseconds later. The writer also keeps the
catalogue in WAL mode, where readers and the writer hardly ever meet (docs/decisions/041).
"""

from __future__ import annotations

import random
import shlex
import time
from collections.abc import Callable
from typing import TypeVar

import duckdb

from excam.fault import UserError
from excam.store.bucket import has_keys, s3_secret
from excam.store.extensions import open_duckdb
from excam.store.spill import spill_folder
from excam.store.url import StoreUrl, quote

Result = TypeVar("Result")

RETRY_SECONDS = 30.0

# A reader is quick to answer again with what it has at hand. A writer lives for days beside an engine: it reads each
# staged file once (kept, they would be 2.5 KB of memory a pair for ever), and gives back what a commit took.
_LEAN: dict[str, str | bool] = {
    "enable_external_file_cache": False,
    "allocator_flush_threshold": "1MB",
    "allocator_bulk_deallocation_flush_threshold": "1MB",
}

# What a transaction that lost a race is told, by DuckLake, SQLite and PostgreSQL: each can be tried again from the
# start. An aborted one is seen where several make the same new store, and a name taken in PostgreSQL's own indexes
# where they make the same table, even IF NOT EXISTS. The last two are a reader whose files were removed under it,
# because somebody's data had to go at once.
_LOST_RACE = (
    "transaction conflict",
    "database is locked",
    "could not serialize",
    "deadlock detected",
    "current transaction is aborted",
    '_nsp_index"',
    '.parquet": no such file or directory',
    "(http 404 not found)",
)


def is_lost_race(error: duckdb.Error) -> bool:
    """Whether the same work, started afresh, may succeed."""
    message = str(error).lower()
    return any(sign in message for sign in _LOST_RACE)


def attempt(work: Callable[[], Result], seconds: float = RETRY_SECONDS) -> Result:
    """Run ``work`` until it no longer loses a race, at most ``seconds``; it must start from a fresh read each time."""
    deadline = time.monotonic() + seconds
    pause = 0.004
    while True:
        try:
            return work()
        except duckdb.Error as error:
            if not is_lost_race(error) or time.monotonic() > deadline:
                raise
        time.sleep(random.uniform(pause / 2, pause))
        pause = min(pause * 1.5, 0.1)


def transact(connection: duckdb.DuckDBPyConnection, work: Callable[[], Result]) -> Result:
    """Run ``work`` as one transaction: all of it or nothing, and again from a fresh read when it loses a race."""

    def once() -> Result:
        connection.execute("BEGIN")
        try:
            result = work()
            connection.execute("COMMIT")
        except BaseException:
            _rollback(connection)
            raise
        return result

    return attempt(once)


def _rollback(connection: duckdb.DuckDBPyConnection) -> None:
    """Leave a transaction that its own failure may have ended already."""
    try:
        connection.execute("ROLLBACK")
    except duckdb.TransactionException:
        return


def connect(url: StoreUrl, *, read_only: bool, create: bool = False) -> duckdb.DuckDBPyConnection:
    """Attach the store as ``lake``; with ``create`` one that does not exist yet is made."""
    if url.path is not None and not url.path.exists():
        if not create:
            raise missing(url)
        url.path.parent.mkdir(parents=True, exist_ok=True)
    connection = open_duckdb(
        _extensions(url),
        {
            "autoinstall_known_extensions": False,
            "autoload_known_extensions": False,
            "temp_directory": spill_folder(),
            "preserve_insertion_order": False,
            **({} if read_only else _LEAN),
        },
    )
    connection.execute("SET GLOBAL TimeZone = 'UTC'")
    if url.data_path and url.data_path.startswith("s3://"):
        _reach_buckets(connection)
    if password := url.password():
        connection.execute(f"CREATE SECRET catalogue (TYPE postgres, PASSWORD {quote(password)})")
    options = ["READ_ONLY"] if read_only else []
    if not create:
        options.append("CREATE_IF_NOT_EXISTS false")
    if url.data_path is not None:
        options += [f"DATA_PATH {quote(url.data_path + '/lake')}", "OVERRIDE_DATA_PATH true"]
    if url.catalogue == "sqlite":
        options += ["META_BUSY_TIMEOUT 0"] if read_only else ["META_BUSY_TIMEOUT 0", "META_JOURNAL_MODE 'WAL'"]
    elif password:
        options.append("META_SECRET 'catalogue'")
    how = f" ({', '.join(options)})" if options else ""
    target = f"ducklake:{url.catalogue}:{url.catalogue_target}"
    try:
        attempt(lambda: connection.execute(f"ATTACH {quote(target)} AS lake{how}"))
    except duckdb.Error as error:
        connection.close()
        raise unreachable(url, error) from error
    return connection


def _extensions(url: StoreUrl) -> list[str]:
    names = ["ducklake", f"{url.catalogue}_scanner"]
    if url.data_path and "://" in url.data_path:
        names.append("httpfs")
    if url.data_path and url.data_path.startswith("s3://") and not has_keys():
        names.append("aws")
    return names


def _reach_buckets(connection: duckdb.DuckDBPyConnection) -> None:
    try:
        connection.execute(s3_secret())
    except duckdb.Error as error:
        raise UserError(
            "no keys for the bucket: none in the environment, and this machine has no role",
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY",
        ) from error


class NoStoreError(UserError):
    """There is no store at this URL, or not yet, which is no mistake of those that may come before the first run."""


def missing(url: StoreUrl) -> NoStoreError:
    """What to say where a store was expected; a mistyped URL comes before a store that is yet to be made."""
    fix = f"check the URL; for a new store score some logs, or run: excam store init --store {shlex.quote(str(url))}"
    return NoStoreError(f"there is no store at {url}", fix)


def unreachable(url: StoreUrl, error: duckdb.Error) -> UserError:
    """Why a catalogue or bucket could not be reached, without a password."""
    reason = str(error).strip().splitlines()[0].rpartition("failed: ")[2]
    if password := url.password():
        reason = reason.replace(password, "***")
    if "creating a new DuckLake is explicitly disabled" in reason:
        return missing(url)
    if url.path is not None and "readonly database" in reason:
        return UserError(
            f"the store {url} cannot be opened: nothing can be written to {url.path.parent}",
            "get the right to write there, or copy the folder: SQLite keeps files beside a catalogue for readers too",
        )
    if "DATA_PATH" in reason.upper():
        return UserError(
            f"the new store {url} needs a place for its data files", "add ?data_path=FOLDER to the store URL"
        )
    return UserError(f"the store {url} cannot be opened: {reason}", "check the path or server, and your access to it")
