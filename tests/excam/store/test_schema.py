"""Schema versions: an older store is brought up to date, a newer one is refused, a moved one still opens."""

from __future__ import annotations

import itertools
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import duckdb
import pytest

from excam.fault import UserError
from excam.store import Store
from excam.store.connection import connect
from excam.store.schema import MIGRATIONS, SCHEMA_VERSION, Migration, make_tables, stored_version
from excam.store.url import StoreUrl
from tests.excam.store.conftest import NewUrl
from tests.excam.store.outcomes import count, error, put, rows_of, verdict

NEXT = SCHEMA_VERSION + 1
LATER = (*MIGRATIONS, Migration(NEXT, ["ALTER TABLE lake.pairs ADD COLUMN region VARCHAR DEFAULT 'unknown'"]))


def test_an_older_store_is_migrated_and_keeps_its_rows(store_url: str) -> None:
    with Store.open(store_url) as store:
        put(store, verdict(0))
    with Store.open(store_url, migrations=LATER) as store:
        assert store.schema_version() == NEXT
        assert rows_of(store, "SELECT pair_id, region FROM lake.pairs") == [{"pair_id": "p0", "region": "unknown"}]
        put(store, verdict(1))


def test_languages_of_an_older_store_are_known_by_their_codes(new_sqlite: NewUrl) -> None:
    url = new_sqlite()
    with Store.open(url, migrations=MIGRATIONS[:10]) as store:
        spelled = ("en-US", "English", "en", "tlh\0", None)
        put(store, *(verdict(n, language=language, errors=[error()]) for n, language in enumerate(spelled)))
        languages = "SELECT DISTINCT language FROM lake.{} ORDER BY language"
        assert len(rows_of(store, languages.format("verdicts"))) == 5
    with Store.open(url) as store:
        for table in ("pairs", "verdicts", "errors"):
            assert [row["language"] for row in rows_of(store, languages.format(table))] == ["en", "tlh\0", None]


def test_a_new_store_is_the_one_that_all_migrations_make(new_url: NewUrl) -> None:
    migrated, new = new_url(), new_url()
    Store.open(migrated, migrations=LATER[:1]).close()
    for url in (migrated, new):
        Store.open(url, migrations=LATER).close()
    assert _structure(migrated) == _structure(new)


def test_a_store_whose_maker_died_half_way_is_finished_at_its_version(sqlite_url: str, new_sqlite: NewUrl) -> None:
    half = new_sqlite()
    with closing(connect(StoreUrl.parse(half), read_only=False, create=True)) as connection:
        dying = Migration(SCHEMA_VERSION, MIGRATIONS[-1].statements, _Interrupted())
        with pytest.raises(KeyboardInterrupt):
            make_tables(connection, (*MIGRATIONS[:-1], dying))
        assert stored_version(connection) == 0
    with pytest.raises(UserError, match="version 0"):
        Store.open(half, read_only=True)
    with pytest.raises(UserError, match=f"schema version {SCHEMA_VERSION}"):
        Store.open(half, migrations=MIGRATIONS[:3])
    with Store.open(half, migrations=LATER) as store:
        assert store.schema_version() == NEXT
    Store.open(sqlite_url, migrations=LATER).close()
    assert _structure(half) == _structure(sqlite_url)


def test_a_migration_waits_for_the_writer_to_finish(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("excam.store.opening.MIGRATION_WAIT", 0.2)
    with Store.open(sqlite_url) as store, store.lease("score"):
        with pytest.raises(UserError, match="being written"):
            Store.open(sqlite_url, migrations=LATER)
        assert store.schema_version() == SCHEMA_VERSION


def test_a_failed_migration_changes_nothing(sqlite_url: str) -> None:
    broken = (*LATER[:-1], Migration(NEXT, [*LATER[-1].statements, "SELECT no_such_function()"]))
    with pytest.raises(Exception, match="no_such_function"):
        Store.open(sqlite_url, migrations=broken)
    with Store.open(sqlite_url) as store:
        assert store.schema_version() == SCHEMA_VERSION
        assert rows_of(store, "SELECT * FROM lake.pairs") == []


def test_a_store_of_a_newer_version_is_refused(sqlite_url: str) -> None:
    Store.open(sqlite_url, migrations=LATER).close()
    with pytest.raises(UserError, match=f"schema version {NEXT}"):
        Store.open(sqlite_url)
    with pytest.raises(UserError, match=f"schema version {NEXT}"):
        Store.open(sqlite_url, read_only=True)


def test_a_reader_does_not_migrate_and_says_what_to_do(sqlite_url: str) -> None:
    with pytest.raises(UserError, match=f"reads version {NEXT}") as refused:
        Store.open(sqlite_url, read_only=True, migrations=LATER)
    assert "excam store init" in refused.value.fix


def test_a_reader_cannot_write(sqlite_url: str) -> None:
    with Store.open(sqlite_url, read_only=True) as store, pytest.raises(UserError, match="read-only"):
        store.lease()


def test_a_store_moved_to_another_folder_still_opens(sqlite_store: Store, sqlite_url: str, tmp_path: Path) -> None:
    put(sqlite_store, verdict(0))
    sqlite_store.close()
    shutil.move(tmp_path / "store", tmp_path / "moved")
    with Store.open(f"ducklake:sqlite:{tmp_path}/moved/catalog.sqlite") as moved:
        put(moved, verdict(1))
        assert len(rows_of(moved, "SELECT instruction FROM lake.texts")) == 2


def test_no_store_is_made_over_the_data_of_another_whose_files_it_would_remove(sqlite_store: Store) -> None:
    put(sqlite_store, verdict(0))
    assert sqlite_store.url.path is not None
    other = sqlite_store.url.path.with_suffix(".db")
    with pytest.raises(UserError, match="holds the data of another store"):
        Store.open(f"ducklake:sqlite:{other}")


def test_processes_that_create_the_same_store_at_once_make_one(tmp_path: Path) -> None:
    url = f"ducklake:sqlite:{tmp_path}/new/catalog.sqlite"
    program = f"from excam.store import Store; Store.open({url!r}).close()"
    processes = [subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parents[3]) for _ in range(3)]
    assert [process.wait(timeout=300) for process in processes] == [0, 0, 0]
    with Store.open(url) as store:
        assert count(store, "leases") == 4
        assert count(store, "store_meta") == 1


def test_a_lock_right_after_the_tables_are_made_is_waited_for(
    new_sqlite: NewUrl, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = itertools.count()

    def locked_once(connection: duckdb.DuckDBPyConnection) -> int:
        if next(asked) == 1:
            raise duckdb.Error('Failed to execute query "PRAGMA journal_mode=WAL": database is locked')
        return stored_version(connection)

    monkeypatch.setattr("excam.store.store.stored_version", locked_once)
    with Store.open(new_sqlite()) as store:
        assert store.schema_version() == SCHEMA_VERSION
    assert next(asked) > 2


class _Interrupted(list[str]):
    """Settings of a migration whose process dies after its tables are made and before they are set up."""

    def __iter__(self) -> Iterator[str]:
        raise KeyboardInterrupt


def _structure(url: str) -> dict[str, set[tuple[Any, ...]]]:
    """Everything that tells one store's tables from another's, without the order in which they were made."""
    tables = "__ducklake_metadata_lake.ducklake_table AS t USING (table_id) WHERE t.end_snapshot IS NULL"
    asked = {
        "columns": f"""SELECT t.table_name, column_order, column_name, column_type, nulls_allowed, default_value
            FROM __ducklake_metadata_lake.ducklake_column AS c JOIN {tables} AND c.end_snapshot IS NULL""",
        "partitions": f"""SELECT t.table_name, partition_key_index, column_id, transform
            FROM __ducklake_metadata_lake.ducklake_partition_column JOIN {tables}""",
        "order": f"""SELECT t.table_name, sort_key_index, expression, sort_direction, null_order
            FROM __ducklake_metadata_lake.ducklake_sort_expression JOIN {tables}""",
        "comments": f"""SELECT t.table_name, key, value FROM __ducklake_metadata_lake.ducklake_tag AS tag
            JOIN {tables.replace("USING (table_id)", "ON object_id = table_id")} AND tag.end_snapshot IS NULL""",
        "options": "SELECT option_name, scope_entry, value FROM lake.options() WHERE scope != 'GLOBAL'",
        "defaults": "SELECT option_name, value FROM lake.options() WHERE option_name = 'data_inlining_row_limit'",
        "leases": "SELECT name, released_at IS NULL FROM lake.leases",
        "meta": "SELECT key, value FROM lake.store_meta",
    }
    with Store.open(url, read_only=True, migrations=LATER) as store:
        return {name: set(store.query(_rows, question)) for name, question in asked.items()}


def _rows(connection: duckdb.DuckDBPyConnection, question: str) -> list[tuple[Any, ...]]:
    return connection.execute(question).fetchall()
