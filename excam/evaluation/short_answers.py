"""Benchmarks with one right answer: MSQA's five figures, and CulturALL's accuracy by region and topic."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Protocol

from excam.evaluation.asked import Answer, Asked
from excam.evaluation.explanations import names_answer
from excam.fault import UserError
from excam.stats import wilson

_PICKED = re.compile(r"\W*([A-Z])(?:\W*\Z|\s*[*]*[.):：、．])")


class Grade(StrEnum):
    """What an answer is: right, concretely wrong, or no answer at all."""

    CORRECT = "correct"
    NOT_ATTEMPTED = "not_attempted"
    INCORRECT = "incorrect"


class Grader(Protocol):
    """Says what an answer is. The papers ask an LLM; whoever has one at hand plugs it in here."""

    def __call__(self, question: str, gold: str, answer: str) -> Grade: ...


def contains(question: str, gold: str, answer: str) -> Grade:
    """The grader without a model: right if the gold answer stands in it word for word, no attempt if it is empty.

    Where the question lists options by letter, an answer that begins with a letter is right if it is the gold one's.
    Stricter than the papers' LLM graders, which also accept other words of the same meaning.
    """
    if not answer.strip():
        return Grade.NOT_ATTEMPTED
    picked = _PICKED.match(answer)
    if picked and f"\n{picked[1]}. " in question:
        right = f"\n{picked[1]}. {gold}\n" in f"{question}\n"
    else:
        right = names_answer(answer, gold)
    return Grade.CORRECT if right else Grade.INCORRECT


@dataclass(frozen=True)
class Graded:
    """A question with the grade of one answer to it."""

    asked: Asked
    grade: Grade


def grade_all(answers: Iterable[tuple[Asked, Answer]], grader: Grader = contains) -> list[Graded]:
    """Every answer graded; a grade already in the file stands. A grade that is none of the three ends the run."""
    found = []
    for asked, one in answers:
        given = grader(asked.question, asked.gold, one.answer) if one.grade is None else one.grade
        try:
            found.append(Graded(asked, Grade(given)))
        except ValueError:
            known = ", ".join(Grade)
            raise UserError(f"grade {given!r} of {one.question_id}", f"use one of {known}") from None
    return found


@dataclass(frozen=True)
class Msqa:
    """Shares CO correct, NA not attempted, IN incorrect; CGA correct of those attempted; F harmonic mean of CO, CGA."""

    n: int
    co: float
    na: float
    incorrect: float
    cga: float
    f: float


def msqa(grades: Sequence[Grade]) -> Msqa:
    """MSQA's five figures; nan of no answer, and CGA is 0 where nothing was attempted."""
    n = len(grades)
    if n == 0:
        return Msqa(0, *[math.nan] * 5)
    right, silent = grades.count(Grade.CORRECT), grades.count(Grade.NOT_ATTEMPTED)
    co, tried = right / n, n - silent
    cga = right / tried if tried else 0.0
    return Msqa(n, co, silent / n, (tried - right) / n, cga, 2 * co * cga / (co + cga) if co else 0.0)


@dataclass(frozen=True)
class Accuracy:
    """The share of right answers with Wilson's interval."""

    n: int
    accuracy: float
    low: float
    high: float


def accuracy(grades: Sequence[Grade]) -> Accuracy:
    """CulturALL's figure: right or not, an answer not attempted is not right."""
    right = grades.count(Grade.CORRECT)
    return Accuracy(len(grades), right / len(grades) if grades else math.nan, *wilson(right, len(grades)))


def grades_by(graded: Iterable[Graded], key: Callable[[Asked], str | None]) -> dict[str, list[Grade]]:
    """Grades by a property of the question, in alphabetical order; what has none stands under ``none``."""
    found: dict[str, list[Grade]] = {}
    for one in graded:
        found.setdefault(key(one.asked) or "none", []).append(one.grade)
    return dict(sorted(found.items()))
