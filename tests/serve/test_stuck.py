"""When an engine counts as hung: requests wait, and for too long nobody got an answer."""

from __future__ import annotations

from contextlib import suppress

import pytest

from serve.stuck import Answers, EngineStuckError


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def answers(clock: Clock) -> Answers:
    return Answers(stuck_seconds=10.0, clock=clock)


def give_up(answers: Answers, clock: Clock) -> None:
    with suppress(TimeoutError), answers.awaited():
        clock.now += 6
        raise TimeoutError


def test_an_engine_that_answers_others_is_not_stuck_however_long_one_waits(answers: Answers, clock: Clock) -> None:
    with answers.awaited():
        for _ in range(5):
            with answers.awaited():
                clock.now += 9
            answers.check()
        clock.now += 11
        with pytest.raises(EngineStuckError, match="1 requests wait, and none was answered for 11 s"):
            answers.check()
    answers.check()


def test_a_request_that_was_given_up_is_no_answer(answers: Answers, clock: Clock) -> None:
    for _ in range(2):
        give_up(answers, clock)
    with answers.awaited(), pytest.raises(EngineStuckError):
        answers.check()


def test_time_in_which_nobody_asks_is_no_silence(answers: Answers, clock: Clock) -> None:
    give_up(answers, clock)
    clock.now += 10_000
    answers.check()
    with answers.awaited():
        clock.now += 3
        answers.check()
