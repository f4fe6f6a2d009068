"""Backups: taken while others write, restored into either catalogue, and nothing is judged twice afterwards."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from excam.fault import UserError
from excam.store import Committed, OffsetRange, Store
from excam.store.backup import MANIFEST, is_backup, read_manifest
from excam.store.queries import trends
from excam.store.restore import restore
from excam.store.reviews import Opinion, add_review
from excam.store.schema import MIGRATIONS, SCHEMA_VERSION
from tests.excam.store.outcomes import JUDGE, TUNED, count, dead_letter, error, put, rows_of, unit, verdict

ROWS = [verdict(0), verdict(1, errors=[error()], country="JP"), verdict(2, output="\0 🍚 \ud7ff", metadata='{"a": 1}')]


def fill(store: Store) -> None:
    put(store, *ROWS, dead_letter(9), units=[unit(0), unit(1)])
    put(store, ROWS[1], judge=TUNED)
    store.query(add_review, "p1", JUDGE, Opinion.WRONG, "no", "reader")
    with store.lease() as lease:
        run_id = store.start_run(lease, "stream", JUDGE, {})
        store.commit(lease, run_id, JUDGE, [], [], [OffsetRange("kafka:logs", 0, 0, 7, kind="start")])


@pytest.mark.parametrize(
    ("taken_from", "restored_into"),
    [
        ("sqlite", "sqlite"),
        pytest.param("sqlite", "postgres", marks=pytest.mark.postgres),
        pytest.param("postgres", "sqlite", marks=pytest.mark.postgres),
    ],
)
def test_a_restored_store_goes_on_where_the_backup_was_taken(
    taken_from: str, restored_into: str, request: pytest.FixtureRequest, tmp_path: Path
) -> None:
    with Store.open(request.getfixturevalue(f"{taken_from}_url")) as store:
        fill(store)
        folder, manifest = store.backup(str(tmp_path / "it's [all] we *have*?"))
        trend = store.query(trends, judge=JUDGE)
        put(store, verdict(50))
        texts = rows_of(
            store, "FROM lake.texts WHERE content_hash <> '' AND NOT contains(instruction, '50') ORDER BY ALL"
        )
    assert is_backup(folder, []), "also while it is being written"
    assert is_backup("renamed", os.listdir(folder))
    url = request.getfixturevalue(f"new_{restored_into}")()
    assert restore(folder, url) == manifest
    with Store.open(url) as again:
        assert again.query(trends, judge=JUDGE) == trend
        assert {name: count(again, name) for name in manifest.rows} == manifest.rows
        assert rows_of(again, "FROM lake.texts ORDER BY ALL") == texts
        assert again.done_parts("file:///logs/a.parquet", "v1", JUDGE) == {0, 1}
        assert again.positions("kafka:logs", JUDGE) == {0: 7}
        assert put(again, *ROWS, units=[unit(0)]) == Committed(known=3)
        assert put(again, verdict(60, errors=[error()])) == Committed(verdicts=1, errors=1)
        assert put(again, ROWS[1], judge=TUNED) == Committed(known=1)
    with pytest.raises(UserError, match="not empty"):
        restore(folder, url)


def test_a_backup_holds_one_moment_of_a_store_that_is_being_written(sqlite_url: str, tmp_path: Path) -> None:
    begun, stop, failures = threading.Event(), threading.Event(), list[BaseException]()

    def write() -> None:
        number = 0
        try:
            with Store.open(sqlite_url) as store, store.lease() as lease:
                while not stop.is_set():
                    put(store, verdict(number, errors=[error()]), lease=lease, units=[unit(number)])
                    number += 1
                    begun.set()
        except BaseException as problem:  # noqa: BLE001 - handed to the test, which raises it
            failures.append(problem)
            begun.set()

    writer = threading.Thread(target=write)
    writer.start()
    begun.wait()
    try:
        with Store.open(sqlite_url, read_only=True) as store:
            manifests = [store.backup(str(tmp_path / "backups"))[1] for _ in range(3)]
    finally:
        stop.set()
        writer.join()
    assert not failures
    for rows in (manifest.rows for manifest in manifests):
        assert rows["pairs"] == rows["texts"] == rows["verdicts"] == rows["errors"] == rows["ledger"]
    assert manifests[-1].rows["pairs"] > 0


def test_a_backup_that_is_not_whole_is_refused_before_anything_is_made(sqlite_store: Store, tmp_path: Path) -> None:
    put(sqlite_store, *ROWS)
    folder, _ = sqlite_store.backup(str(tmp_path))
    url = f"ducklake:sqlite:{tmp_path}/new/catalog.sqlite"
    pairs = Path(folder) / "pairs.parquet"
    pq.write_table(pq.read_table(pairs).slice(1), pairs)
    with pytest.raises(UserError, match=r"pairs\.parquet is missing or was changed"):
        restore(folder, url)
    pairs.unlink()
    with pytest.raises(UserError, match=r"pairs\.parquet is missing or was changed"):
        restore(folder, url)
    (Path(folder) / MANIFEST).write_text("{}")
    with pytest.raises(UserError, match="cannot be read"):
        read_manifest(folder)
    (Path(folder) / MANIFEST).unlink()
    with pytest.raises(UserError, match="no backup"):
        restore(folder, url)
    assert not (tmp_path / "new").exists()


def test_a_backup_of_an_older_version_is_brought_up_to_date(tmp_path: Path) -> None:
    old, new = (f"ducklake:sqlite:{tmp_path}/{name}/catalog.sqlite" for name in ("old", "new"))
    with Store.open(old, migrations=MIGRATIONS[:5]) as store:
        put(store, *ROWS)
        folder, manifest = store.backup(str(tmp_path))
    assert manifest.schema_version == 5
    restore(folder, new)
    with Store.open(new, read_only=True) as store:
        assert store.schema_version() == SCHEMA_VERSION
        assert count(store, "pairs") == 3
