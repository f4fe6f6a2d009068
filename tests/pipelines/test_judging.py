"""How long a caller waits: for a judge that lives as long as it takes, for one that does not come only so long."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from typing import Any

import pytest
from ray import serve

from excam.judgement import JudgeFailure, Judgement
from excam.report import CORRECT_REPORT
from pipelines import judging
from pipelines.judging import FIRST_CALLS, JudgeCaller, first_calls
from serve.living import judge_lives
from serve.settings import JudgeSettings

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("judge")]
PAIRS = [("q", "a"), ("q", "b")]


class Slow:
    """A judge that lives and needs its time, and that begins anew when it is asked anew."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._asked = 0

    async def judge_batch(self, pairs: list[tuple[str, str]]) -> list[Judgement]:
        self._asked += 1
        await asyncio.sleep(self._seconds)
        return [Judgement.of(CORRECT_REPORT, 0.1, 0.9) for _ in pairs]

    async def asked(self) -> int:
        return self._asked


class Crowded:
    """A judge that answers soon and remembers how many calls it had at once."""

    def __init__(self) -> None:
        self._now = self._most = 0

    async def judge_batch(self, pairs: list[tuple[str, str]]) -> list[Judgement]:
        self._now += 1
        self._most = max(self._most, self._now)
        await asyncio.sleep(0.2)
        self._now -= 1
        return [Judgement.of(CORRECT_REPORT, 0.1, 0.9) for _ in pairs]

    async def most(self) -> int:
        return self._most


class Mortal:
    """A judge that one pair kills, whoever stands beside it."""

    async def judge_batch(self, pairs: list[tuple[str, str]]) -> list[Judgement]:
        if ("q", "poison") in pairs:
            os._exit(1)
        return [Judgement.of(CORRECT_REPORT, 0.1, 0.9) for _ in pairs]


@pytest.fixture(autouse=True)
def short_of_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judging, "FIRST_WAIT", 1.0)
    monkeypatch.setattr(judging, "PATIENCE", 2.0)


@pytest.fixture
def slow() -> Iterator[Any]:
    deployment = serve.deployment(ray_actor_options={"num_cpus": 0}, graceful_shutdown_timeout_s=0)(Slow)
    yield serve.run(deployment.bind(6.0), name="slow-judge", route_prefix=None)
    serve.delete("slow-judge")


@pytest.fixture
def never() -> Iterator[Any]:
    """A judge that no machine has room for."""
    deployment = serve.deployment(ray_actor_options={"resources": {"nowhere": 1}}, graceful_shutdown_timeout_s=0)(Slow)
    target = serve.RunTarget(deployment.bind(0.0), name="no-judge", route_prefix=None)
    yield serve.run_many([target], wait_for_applications_running=False)[0]
    serve.delete("no-judge")


@pytest.fixture
def crowded() -> Iterator[Any]:
    options: dict[str, Any] = {"ray_actor_options": {"num_cpus": 0}, "max_ongoing_requests": 100}
    yield serve.run(serve.deployment(**options)(Crowded).bind(), name="crowded-judge", route_prefix=None)
    serve.delete("crowded-judge")


@pytest.fixture
def mortal() -> Iterator[Any]:
    deployment = serve.deployment(ray_actor_options={"num_cpus": 0}, graceful_shutdown_timeout_s=0)(Mortal)
    yield serve.run(deployment.bind(), name="mortal-judge", route_prefix=None)
    serve.delete("mortal-judge")


async def ask(handle: Any) -> list[Judgement | JudgeFailure] | JudgeFailure:
    return await JudgeCaller(handle, "v", 1, 1)._call(PAIRS)


def test_a_judge_that_lives_is_waited_for_and_seldom_asked_anew(slow: Any) -> None:
    answer = asyncio.run(ask(slow))
    assert isinstance(answer, list)
    assert len(answer) == len(PAIRS)
    assert slow.asked.remote().result() <= 6, "after 1, 2 and 4 seconds; on a machine without time after 8 and 16 too"


@pytest.mark.parametrize(("quick", "most"), [(0.0, FIRST_CALLS), (300.0, 12)])
def test_a_judge_gets_more_calls_at_once_only_while_it_answers_quickly(
    crowded: Any, monkeypatch: pytest.MonkeyPatch, quick: float, most: int
) -> None:
    for name, value in {"FIRST_WAIT": 300.0, "QUICK": quick}.items():
        monkeypatch.setattr(judging, name, value)

    async def ask_often() -> None:
        caller = JudgeCaller(crowded, "v", 12, FIRST_CALLS)
        await asyncio.gather(*(caller._answers([{"instruction": "q", "output": "a"}]) for _ in range(80)))

    asyncio.run(ask_often())
    assert crowded.most.remote().result() <= most
    assert quick == 0.0 or crowded.most.remote().result() > FIRST_CALLS


def test_a_judge_that_grows_with_its_queue_gets_all_calls_at_once() -> None:
    fixed, growing = (JudgeSettings.load(replicas={"min": least, "max": 3}).replicas for least in (3, 1))
    assert first_calls(fixed) == 3 * FIRST_CALLS
    assert first_calls(growing) == 3 * growing.max_ongoing_requests


def test_where_no_judge_lives_the_pairs_are_given_up_with_the_reason(never: Any) -> None:
    answer = asyncio.run(ask(never))
    assert isinstance(answer, JudgeFailure)
    assert answer.reason == "judge_unreachable"


def test_a_pair_that_kills_the_judge_is_found_and_its_neighbours_are_judged(
    mortal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {"FIRST_WAIT": 300.0, "PATIENCE": 15.0, "DEATHS": 1}.items():
        monkeypatch.setattr(judging, name, value)
    rows = [{"instruction": "q", "output": output} for output in ("a", "b", "poison", "c", "d")]
    answers = asyncio.run(JudgeCaller(mortal, "v", 1, 1)._answers(rows))
    assert [type(answer) for answer in answers] == [Judgement, Judgement, JudgeFailure, Judgement, Judgement]
    assert isinstance(answers[2], JudgeFailure)
    assert answers[2].reason == "judge_unreachable", "alone it has all the patience that any pair has"


def test_a_judge_lives_while_a_replica_of_it_runs(judge: Any, never: Any) -> None:
    handle, _ = judge
    assert judge_lives(handle)
    assert not judge_lives(never)
