"""A person who watches sees pairs answered before their unit is done, and a fast judge is not slowed down by that."""

from __future__ import annotations

import time

import pytest
import ray

from pipelines import answered
from pipelines.answered import Telling, shown_to
from pipelines.batch import ScoreOptions, score_logs
from pipelines.progress import Silence, Tally
from serve.settings import JudgeSettings
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
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    class Order(Listener):
        before_a_unit = 0

        def judging(self, tally: Tally) -> None:
            if tally.rows:
                self.before_a_unit = self.before_a_unit or max(self.heard, default=0)

    # Long texts, no two alike: the judge needs seconds for them on any machine, and callers tell once a second.
    long = [" ".join(f"Day {day} of {number}: rice." for day in range(40)) for number in range(32)]
    log = write_log("log.parquet", [pair_record(number, output=text) for number, text in enumerate(long)])
    order = Order()
    score_logs([str(log)], store_url, judge_settings, ScoreOptions(gate=False), order)
    assert 0 < order.before_a_unit <= 32
