"""A store in a bucket, on a real S3 server: ``make s3`` runs this, because the first time builds the server.

Everything that touches files is tried: the lake, logs, staged files, deletion, compaction, backups.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from excam.fault import UserError
from excam.outcome import outcome_table
from excam.place import open_place
from excam.store import Committed, Selection, Store
from excam.store.queries import trends
from excam.store.restore import restore
from tests.conftest import pair_record
from tests.excam.store.outcomes import JUDGE, count, error, put, unit, verdict
from tests.excam.store.traces import words_in
from tests.s3 import Bucket, running_s3

SECRET = "xylophon-4711"


@pytest.fixture(scope="session")
def bucket() -> Iterator[Bucket]:
    """The variables are set before Ray starts, whose workers inherit them, as pods get theirs from a secret."""
    with pytest.MonkeyPatch.context() as patch, running_s3() as server:
        for name, value in server.environment.items():
            patch.setenv(name, value)
        filesystem, name = open_place(f"{server.address}?allow_bucket_creation=true")
        filesystem.create_dir(name)
        yield server


@pytest.fixture
def url(bucket: Bucket, tmp_path: Path) -> str:
    return f"ducklake:sqlite:{tmp_path}/catalog.sqlite?data_path={bucket.address}/a störe {tmp_path.name}"


def test_a_store_in_a_bucket_is_written_read_compacted_and_cleaned(bucket: Bucket, url: str, tmp_path: Path) -> None:
    with Store.open(url) as store:
        put(store, verdict(0), verdict(1, errors=[error()], output=f"{SECRET} 🍚"), units=[unit(0)])
        staged = f"{store.staging}/run/part.parquet"
        filesystem, path = open_place(staged)
        pq.write_table(outcome_table([verdict(2), verdict(3, instruction=SECRET)]), path, filesystem=filesystem)
        with store.lease() as lease:
            run_id = store.start_run(lease, "score", JUDGE, {})
            assert store.commit(lease, run_id, JUDGE, [staged], [unit(1)]) == Committed(verdicts=2)
            before, after = store.compact(lease, timedelta(0), timedelta(0))
        assert after.files < before.files
        inside = bucket.folder / f"a störe {tmp_path.name}"
        assert words_in([inside], SECRET)
        with store.lease() as lease:
            assert store.forget(lease, Selection(pair_ids=("p1", "p3"))).pairs == 2
        assert words_in([inside, tmp_path], SECRET) == set()
        assert not list((inside / "staging").rglob("*.parquet"))
        assert put(store, verdict(0), units=[unit(0)]) == Committed(known=1)
        files = store.pending_pairs("another judge", f"{store.staging}/pairs", 1)
        assert len(files) == 2
    with Store.open(url, read_only=True) as reader:
        assert reader.query(trends).rows[0].n == 2


def test_a_backup_goes_into_a_bucket_and_comes_back(bucket: Bucket, url: str, tmp_path: Path) -> None:
    with Store.open(url) as store:
        put(store, verdict(0), verdict(1, errors=[error()]), units=[unit(0)])
        folder, manifest = store.backup(f"{bucket.address}/backups")
        trend = store.query(trends)
    again = f"ducklake:sqlite:{tmp_path}/again/catalog.sqlite"
    assert restore(folder, again) == manifest
    with Store.open(again) as restored:
        assert restored.query(trends) == trend
        assert count(restored, "ledger") == 1


def test_a_wrong_key_is_told_at_once(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "not-the-key")
    with pytest.raises(UserError) as refused:
        Store.open(url)
    assert "403" in str(refused.value)
    assert "not-the-key" not in str(refused.value)


def test_a_bucket_that_fails_while_a_log_is_read_leaves_its_rows_to_the_next_try(bucket: Bucket) -> None:
    from pipelines.log_file import LogFile, inspect
    from pipelines.reach import OutOfReachError, Patience
    from pipelines.read import read_units
    from pipelines.units import Sampling, sections_of

    log = f"{bucket.address}/failing.parquet"
    filesystem, path = open_place(log)
    columns = {"n": range(1000), "text": [secrets.token_hex(4000) for _ in range(1000)]}
    pq.write_table(pa.table(columns), path, filesystem=filesystem, compression="none", write_batch_size=10)
    file = inspect(log)
    assert isinstance(file, LogFile)
    (section,) = sections_of(file, "f", 100, set(), Sampling())
    units = read_units(section, Patience(0))
    first = next(units)
    away = bucket.folder.rename(bucket.folder.with_name("away"))
    found = [first]
    with pytest.raises(OutOfReachError, match=r"failing\.parquet is out of reach: "):
        found.extend(units)
    away.rename(bucket.folder)
    rest = read_units(replace(section, done=tuple(unit.part for unit in found)))
    assert [record["n"] for unit in (*found, *rest) for record in unit.records] == list(range(1000))
    assert len(found) < 10


@pytest.mark.engine
def test_logs_in_a_bucket_are_judged_into_a_store_in_a_bucket(
    bucket: Bucket, url: str, judge_settings: Any, judge: Any
) -> None:
    from pipelines.again import replay
    from pipelines.batch import ScoreOptions, score_logs

    log = f"{bucket.address}/logs/app=my bot [1]/2026-09-01 100%.parquet"
    filesystem, path = open_place(log)
    records = [pair_record(number) for number in range(12)] + [pair_record(12, output=None)]
    pq.write_table(pa.Table.from_pylist(records), path, filesystem=filesystem)
    scored = score_logs([f"{bucket.address}/logs"], url, judge_settings, ScoreOptions(gate=False))
    assert (scored.tally.judged, scored.tally.dead_letters) == (12, 1)
    again = score_logs([log], url, judge_settings, ScoreOptions(gate=False))
    assert again.tally.rows == 0
    assert replay(url, judge_settings, options=ScoreOptions(gate=False)).tally.dead_letters == 1
    with Store.open(url, read_only=True) as store:
        assert count(store, "verdicts") == 12
