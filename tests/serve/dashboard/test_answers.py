"""Answers are shared while they hold, asked for once at a time, and never kept past their version."""

from __future__ import annotations

import threading
import time

import pytest

from serve.dashboard.answers import Answers


def test_an_answer_is_kept_for_its_version_and_no_longer() -> None:
    asked: list[str] = []
    answers = Answers()
    for question, version in (("a", 1), ("a", 1), ("b", 1), ("a", 2), ("a", 2)):
        assert answers.get(question, version, lambda: asked.append("x") or len(asked)) == len(asked)  # type: ignore[func-returns-value]
    assert len(asked) == 3


def test_those_who_ask_at_the_same_time_share_one_question() -> None:
    answers, asked, begun, go_on = Answers(), [], threading.Event(), threading.Event()

    def ask() -> int:
        asked.append(1)
        begun.set()
        go_on.wait(30)
        return 7

    found: list[int] = []
    threads = [threading.Thread(target=lambda: found.append(answers.get("q", 1, ask))) for _ in range(4)]
    for thread in threads:
        thread.start()
    begun.wait(30)
    go_on.set()
    for thread in threads:
        thread.join()
    assert (found, len(asked)) == ([7] * 4, 1)


def test_an_answer_of_before_serves_for_a_while_and_is_renewed_behind() -> None:
    now = [0.0]
    answers = Answers(clock=lambda: now[0])
    renewed = threading.Event()

    def later() -> str:
        renewed.set()
        return "after"

    assert answers.get("q", 1, lambda: "before", 5.0) == "before"
    now[0] = 4.0
    assert answers.get("q", 2, later, 5.0) == "before"
    assert renewed.wait(30)
    while answers.get("q", 2, later, 5.0) != "after":
        time.sleep(0.01)
    now[0] = 9.0
    assert answers.get("q", 3, lambda: "fresh", 5.0) == "fresh"
    assert answers.get("q", 4, lambda: "strict") == "strict"
    answers.forget()
    assert answers.get("q", 4, lambda: "anew", 5.0) == "anew"
    answers.close()


def test_a_question_that_failed_is_asked_again_and_old_ones_are_forgotten() -> None:
    answers = Answers(most=2)

    def fail() -> int:
        raise ValueError("no answer")

    with pytest.raises(ValueError, match="no answer"):
        answers.get("a", 1, fail)
    assert answers.get("a", 1, lambda: 1) == 1
    answers.get("b", 1, lambda: 2)
    answers.get("c", 1, lambda: 3)
    assert answers.get("a", 1, lambda: 4) == 4
