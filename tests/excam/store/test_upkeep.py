"""Upkeep: compaction that loses nothing, snapshots that anything can open, readers that never wait."""

from __future__ import annotations

import random
import resource
import signal
import threading
import time
from datetime import timedelta
from pathlib import Path

import duckdb
import pyarrow.parquet as pq
import pytest

from excam.fault import UserError
from excam.outcome import outcome_table
from excam.store import Committed, Store
from excam.store.schema import MIGRATIONS
from tests.excam.store.outcomes import JUDGE, count, dead_letter, error, put, put_run, unit, verdict

TABLES = ("texts", "pairs", "verdicts", "errors", "dead_letters", "ledger", "runs", "judges", "leases")


def test_compaction_merges_files_and_loses_nothing(store: Store) -> None:
    batch = [verdict(number, errors=[error()]) for number in range(4)]
    for row in batch:
        put(store, row, dead_letter(100 + row["row"]), units=[unit(row["row"])])
    before = {table: count(store, table) for table in TABLES}
    with store.lease() as lease:
        big, small = store.compact(lease, timedelta(0), timedelta(0))
        assert small.files < big.files
        assert small.versions < big.versions
    assert {table: count(store, table) for table in TABLES} == before
    on_disk = [file for file in Path(store.data_path).rglob("*.parquet") if "staging" not in file.parts]
    assert len(on_disk) == store.size().files, "replaced files are gone"
    assert put(store, *batch, units=[unit(0)]) == Committed(known=4)
    assert store.done_parts("file:///logs/a.parquet", "v1", JUDGE) == {0, 1, 2, 3}


def test_merging_holds_some_megabytes_of_text_at_a_time_in_old_stores_too(tmp_path: Path) -> None:
    url = f"ducklake:sqlite:{tmp_path}/catalog.sqlite"
    with Store.open(url, migrations=MIGRATIONS[:7]) as old:
        for start in (0, 2048, 4096):
            put(old, *(verdict(n, output=f"{n} " + "left hand " * 800) for n in range(start, start + 2048)))
    with Store.open(url) as store, store.lease() as lease:
        store.compact(lease, timedelta(0), timedelta(0))
        (merged,) = (Path(store.data_path) / "lake/main/texts").rglob("*.parquet")
    file = pq.ParquetFile(merged).metadata
    assert file.num_rows == 3 * 2048
    assert file.num_row_groups > 1, "49 MB of text are not one row group"


def test_a_long_running_writer_tidies_up_only_when_there_are_many_files(sqlite_store: Store) -> None:
    with sqlite_store.lease() as lease:
        for number in range(3):
            put(sqlite_store, verdict(number), lease=lease)
        files = sqlite_store.size().files
        assert not sqlite_store.tidy(lease, most_files=files)
        assert sqlite_store.tidy(lease, most_files=files - 1)
        left = sqlite_store.size().files
        assert left < files
        assert not sqlite_store.tidy(lease, most_files=1), "what it left does not count again"
        put(sqlite_store, verdict(4), lease=lease)
        assert sqlite_store.size().files > left + 1
        assert sqlite_store.tidy(lease, most_files=1)


def test_files_that_are_large_enough_are_left_alone_by_a_writer_in_a_hurry(sqlite_store: Store) -> None:
    def files() -> set[Path]:
        return set((Path(sqlite_store.data_path) / "lake/main/texts").rglob("*.parquet"))

    with sqlite_store.lease() as lease:
        put(sqlite_store, *(verdict(number, output=random.randbytes(500).hex()) for number in range(200)), lease=lease)
        (large,) = files()
        for number in range(200, 203):
            put(sqlite_store, verdict(number), lease=lease)
        sqlite_store.compact(lease, timedelta(0), timedelta(0), below=large.stat().st_size)
        assert large in files()
        assert len(files()) == 2
        sqlite_store.compact(lease, timedelta(0), timedelta(0))
        assert large not in files()
        assert len(files()) == 1


def test_verdicts_are_sorted_a_file_of_some_megabytes_at_a_time(sqlite_store: Store) -> None:
    def files() -> dict[Path, int]:
        found = (Path(sqlite_store.data_path) / "lake/main/verdicts").rglob("*.parquet")
        return {file: file.stat().st_size for file in found}

    with sqlite_store.lease() as lease:
        for start in range(0, 80, 10):
            reports = [verdict(n, report=random.randbytes(150_000).hex()) for n in range(start, start + 10)]
            put(sqlite_store, *reports, lease=lease)
        small = files()
        sqlite_store.compact(lease, timedelta(0), timedelta(0))
        merged = files()
        sqlite_store.compact(lease, timedelta(0), timedelta(0))
    assert sum(merged.values()) > 20_000_000, "one file of DuckLake's size would hold them all"
    assert 1 < len(merged) < len(small)
    assert max(merged.values()) < 20_000_000
    assert set(files()) & set(merged), "what is large enough is not written again"
    assert count(sqlite_store, "verdicts") == 80


def test_what_a_killed_writer_left_behind_is_removed_and_staged_files_are_not(sqlite_store: Store) -> None:
    put(sqlite_store, verdict(0))
    orphan = Path(sqlite_store.data_path) / "lake/main/pairs/ducklake-orphan.parquet"
    staged = Path(sqlite_store.staging) / "run/staged.parquet"
    staged.parent.mkdir(parents=True)
    for file in (orphan, staged):
        duckdb.sql("SELECT 1 AS n").write_parquet(str(file))
    with sqlite_store.lease() as lease:
        sqlite_store.compact(lease, timedelta(0), timedelta(0))
    assert not orphan.exists()
    assert staged.exists()
    sqlite_store.clear_staging("run")
    assert not staged.exists()


def test_a_snapshot_is_a_plain_database_with_text_and_without_inner_keys(store: Store, tmp_path: Path) -> None:
    put_run(store, verdict(0, errors=[error()]), verdict(1, output="\0 🍚"), dead_letter(9))
    rows = store.snapshot(str(tmp_path / "out.duckdb"))
    told = {name: count for name, count in rows.items() if count}
    assert told == {"pairs": 2, "verdicts": 2, "errors": 1, "dead_letters": 1, "judges": 1, "runs": 1}
    assert {"reviews", "alerts", "stream_ranges"} <= set(rows)
    with duckdb.connect(str(tmp_path / "out.duckdb"), read_only=True) as plain:
        assert plain.execute("SELECT output FROM pairs ORDER BY pair_id").fetchall() == [
            ("With the left hand.",),
            ("\0 🍚",),
        ]
        columns = {name for (name,) in plain.execute("SELECT column_name FROM information_schema.columns").fetchall()}
        wanted = "pair_id judge_version status score p_error country language app model logged_at"
        assert set(wanted.split()) <= columns
        assert not {name for name in columns if name.endswith("_key")}


def test_a_snapshot_that_finds_no_room_leaves_nothing_behind(sqlite_store: Store, tmp_path: Path) -> None:
    put(sqlite_store, *(verdict(number, output=random.randbytes(1000).hex()) for number in range(500)))
    (tmp_path / "out").mkdir()
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, before[1]))
    try:
        with pytest.raises(UserError, match="was not written"):
            sqlite_store.snapshot(str(tmp_path / "out" / "out.duckdb"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, handler)
    assert list((tmp_path / "out").iterdir()) == []


def test_a_snapshot_never_replaces_a_file_unasked(sqlite_store: Store, tmp_path: Path) -> None:
    file = tmp_path / "out.duckdb"
    file.write_text("precious")
    with pytest.raises(UserError, match="exists"):
        sqlite_store.snapshot(str(file))
    assert file.read_text() == "precious"
    sqlite_store.snapshot(str(file), replace=True)
    with pytest.raises(UserError, match="no folder"):
        sqlite_store.snapshot(str(tmp_path / "nowhere/out.duckdb"))
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_readers_see_every_commit_whole_and_never_fail_while_the_writer_writes(store_url: str) -> None:
    seen: list[tuple[int, int]] = []
    over = threading.Event()

    def read() -> None:
        with Store.open(store_url, read_only=True) as reader:
            while not over.is_set():
                seen.append(
                    reader.query(
                        lambda connection: connection.execute(
                            "SELECT (SELECT count(*) FROM lake.verdicts), (SELECT count(*) FROM lake.errors)"
                        ).fetchall()[0]
                    )
                )
                time.sleep(0.005)

    with Store.open(store_url) as writer, writer.lease() as lease:
        reading = threading.Thread(target=read)
        reading.start()
        run_id = writer.start_run(lease, "score", JUDGE, {})
        for start in range(0, 40, 5):
            rows = [verdict(number, errors=[error()]) for number in range(start, start + 5)]
            writer.commit(lease, run_id, JUDGE, [outcome_table(rows)], [])
        over.set()
        reading.join()
    assert len(seen) >= 2
    assert seen == sorted(seen)
    assert all(verdicts == errors and verdicts % 5 == 0 for verdicts, errors in seen)
