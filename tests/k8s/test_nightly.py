"""Two starts of one night: the second finds the store's lease, waits for the first and ends well, nothing doubled."""

from __future__ import annotations

import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pipelines.batch import ScoreOptions, score_logs
from tests.conftest import LogWriter, pair_record
from tests.k8s.overlays import manifests, one


@pytest.mark.engine
def test_a_second_start_of_the_same_night_ends_well_with_nothing_left_to_do(
    judge: Any, judge_settings: Any, write_log: LogWriter, store_url: str
) -> None:
    from excam.store import Store

    entry = one(manifests("cpu-trial"), "RayJob", "nightly")["spec"]["entrypoint"]
    wait = float(re.findall(r"--wait (\d+)", entry)[0])
    log = write_log("night.parquet", [pair_record(number) for number in range(30)])

    def night() -> Any:
        return score_logs([str(log)], store_url, judge_settings, ScoreOptions(gate=False, wait=wait))

    with ThreadPoolExecutor(2) as both:
        runs = [run.result() for run in (both.submit(night), both.submit(night))]
    assert sorted(run.tally.rows for run in runs) == [0, 30]
    with Store.open(store_url, read_only=True) as store:
        counted = store.query(
            lambda connection: connection.execute(
                "SELECT count(*), count(DISTINCT pair_id) FROM lake.verdicts"
            ).fetchone()
        )
        ended = store.query(lambda connection: connection.execute("SELECT state FROM lake.runs").fetchall())
    assert counted == (30, 30)
    assert ended == [("done",), ("done",)]


def test_nobody_waits_longer_for_the_lease_than_the_job_may_live(tmp_path: Path) -> None:
    job = one(manifests("gpu"), "RayJob", "nightly")["spec"]
    waits = [int(seconds) for seconds in re.findall(r"--wait (\d+)", job["entrypoint"])]
    assert sum(waits) < job["activeDeadlineSeconds"]
