"""A person who watches sees pairs answered before their unit is done, and a fast judge is not slowed down by that."""

from __future__ import annotations

import asyncio
import time
from pathlib import Path

import pytest
import ray
from ray import serve

from excam.judgement import Judgement
from excam.report import CORRECT_REPORT
from pipelines import answered
from pipelines.answered import Telling, shown_to
from pipelines.batch import ScoreOptions, score_logs
from pipelines.judging import CHUNK
from pipelines.progress import Silence, Tally
from serve.identity import prepare
from serve.settings import JudgeSettings
from serve.start import APPLICATION
from tests.conftest import LogWriter, pair_record

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("judge")]


class Listener(Silence):
    def __init__(self) -> None:
        self.heard: list[int] = []

    def answered(self, pairs: int) -> None:
        self.heard.append(pairs)


def wait_for(listener: Listener, pairs: int) -> None:
    deadline = time.monotonic() + 120
    while pairs not in listener.heard:
        assert time.monotonic() < deadline, listener.heard
        time.sleep(0.05)


def test_what_callers_tell_is_shown_and_then_no_more() -> None:
    listener = Listener()
    with shown_to(listener) as told:
        told.add.remote(16)
        told.add.remote(5)
        wait_for(listener, 21)
    heard = len(listener.heard)
    time.sleep(2 * answered.EVERY)
    assert len(listener.heard) == heard


def test_without_the_actor_the_watcher_hears_nothing_and_nothing_fails() -> None:
    listener = Listener()
    with shown_to(listener) as told:
        wait_for(listener, 0)
        ray.kill(told)
        time.sleep(2 * answered.EVERY)
        told.add.remote(16)
    assert set(listener.heard) == {0}


def test_a_caller_tells_now_and_then_and_loses_no_count(monkeypatch: pytest.MonkeyPatch) -> None:
    listener = Listener()
    with shown_to(listener) as told:
        monkeypatch.setattr(answered, "EVERY", 300.0)
        telling = Telling(told)
        for _ in range(10):
            telling.add(16)
        assert ray.get(told.pairs.remote()) == 0
        monkeypatch.setattr(answered, "EVERY", 0.0)
        telling.add(16)
        assert ray.get(told.pairs.remote()) == 176


def test_pairs_of_a_run_are_heard_of_before_their_unit_is_done(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings, tmp_path: Path
) -> None:
    heard = tmp_path / "heard"

    class Waiting:
        """A judge that answers its first call after a moment, and the others once that one was heard of."""

        asked = 0

        async def judge_batch(self, pairs: list[tuple[str, str]]) -> list[Judgement]:
            self.asked += 1
            first = self.asked == 1
            await asyncio.sleep(1.5 * answered.EVERY)
            while not (first or heard.exists()):
                await asyncio.sleep(0.05)
            return [Judgement.of(CORRECT_REPORT, 0.1, 0.9) for _ in pairs]

    class Order(Listener):
        before_a_unit = 0

        def answered(self, pairs: int) -> None:
            super().answered(pairs)
            if pairs:
                heard.touch()

        def judging(self, tally: Tally) -> None:
            if tally.rows:
                self.before_a_unit = self.before_a_unit or max(self.heard, default=0)

    waiting = judge_settings.model_copy(update={"threshold": 0.998})
    name = f"{APPLICATION}-{prepare(waiting).card.judge_version}"
    deployment = serve.deployment(ray_actor_options={"num_cpus": 0}, graceful_shutdown_timeout_s=0)(Waiting)
    serve.run(deployment.bind(), name=name, route_prefix=None)
    order = Order()
    log = write_log("log.parquet", [pair_record(number) for number in range(2 * CHUNK)])
    score_logs([str(log)], store_url, waiting, ScoreOptions(gate=False), order)
    serve.delete(name)
    assert order.before_a_unit in (CHUNK, 2 * CHUNK)
