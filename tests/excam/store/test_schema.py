"""Schema versions: an older store is brought up to date, a newer one is refused, a moved one still opens."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from excam.fault import UserError
from excam.store import Store
from excam.store.schema import MIGRATIONS, SCHEMA_VERSION, Migration
from tests.excam.store.outcomes import count, put, rows_of, verdict

NEXT = SCHEMA_VERSION + 1
LATER = (*MIGRATIONS, Migration(NEXT, ["ALTER TABLE lake.pairs ADD COLUMN region VARCHAR DEFAULT 'unknown'"]))


def test_an_older_store_is_migrated_and_keeps_its_rows(store_url: str) -> None:
    with Store.open(store_url) as store:
        put(store, verdict(0))
    with Store.open(store_url, migrations=LATER) as store:
        assert store.schema_version() == NEXT
        assert rows_of(store, "SELECT pair_id, region FROM lake.pairs") == [{"pair_id": "p0", "region": "unknown"}]
        put(store, verdict(1))


def test_a_migration_waits_for_the_writer_to_finish(sqlite_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("excam.store.store.MIGRATION_WAIT", 0.2)
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


def test_processes_that_create_the_same_store_at_once_make_one(tmp_path: Path) -> None:
    url = f"ducklake:sqlite:{tmp_path}/new/catalog.sqlite"
    program = f"from excam.store import Store; Store.open({url!r}).close()"
    processes = [subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parents[3]) for _ in range(3)]
    assert [process.wait(timeout=300) for process in processes] == [0, 0, 0]
    with Store.open(url) as store:
        assert count(store, "leases") == 3
        assert count(store, "store_meta") == 1
