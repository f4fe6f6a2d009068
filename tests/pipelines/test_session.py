"""What every run has around it: a store that is given back, and a driver that needs no weights of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import ray

from excam.store import NoStoreError, Store
from pipelines.again import replay, rescore
from pipelines.batch import Scored
from pipelines.progress import Silence
from pipelines.session import session
from pipelines.stopping import Terminated
from serve.identity import prepare
from serve.settings import JudgeSettings


def test_a_run_that_is_told_to_end_while_it_starts_gives_the_store_back_at_once(
    store_url: str, judge_settings: JudgeSettings
) -> None:
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(Terminated), session(store_url, judge_settings, "stream", {}, 0.0, Silence()):
        signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is before
    with Store.open(store_url) as store, store.lease("the next run", wait=0.0):
        states = store.query(lambda asked: asked.execute("SELECT state FROM lake.runs").fetchall())
    assert states == [("stopped",)]


def test_a_run_that_is_told_to_end_in_the_midst_of_a_query_is_stopped_all_the_same(
    store_url: str, judge_settings: JudgeSettings
) -> None:
    def query() -> None:
        try:
            signal.raise_signal(signal.SIGTERM)
        except Terminated as error:
            raise RuntimeError("Query interrupted") from error  # what DuckDB makes of it

    with pytest.raises(Terminated), session(store_url, judge_settings, "score", {}, 0.0, Silence()):
        query()
    with Store.open(store_url) as store, store.lease("the next run", wait=0.0):
        states = store.query(lambda asked: asked.execute("SELECT state FROM lake.runs").fetchall())
    assert states == [("stopped",)]


def test_the_driver_of_a_cluster_knows_its_judge_without_having_any_weights(
    store_url: str, judge_settings: JudgeSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = prepare(judge_settings).card
    monkeypatch.setenv("EXCAM_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RAY_ADDRESS", "head:6379")
    with session(store_url, judge_settings, "score", {}, 0.0, Silence()) as run:
        assert run.card == known
    assert not list((tmp_path / "cache").rglob("*.safetensors")), "nothing was fetched, converted or merged"


@pytest.mark.parametrize("again", [rescore, replay])
def test_judging_again_makes_no_store_and_fetches_no_model_where_the_url_is_mistyped(
    again: Callable[[str, JudgeSettings], Scored],
    store_url: str,
    judge_settings: JudgeSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EXCAM_CACHE", str(tmp_path / "cache"))
    with pytest.raises(NoStoreError):
        again(store_url, judge_settings)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.engine
@pytest.mark.usefixtures("judge")
def test_a_run_keeps_its_own_answer_to_sigterm_when_it_joins_ray() -> None:
    code = """
import signal
from serve.start import start_ray
ours = lambda *signalled: None
signal.signal(signal.SIGTERM, ours)
start_ray()
assert signal.getsignal(signal.SIGTERM) is ours
"""
    joined = os.environ | {"RAY_ADDRESS": ray.get_runtime_context().gcs_address, "RAY_AUTH_MODE": "token"}
    subprocess.run([sys.executable, "-c", code], env=joined, check=True, timeout=500)
