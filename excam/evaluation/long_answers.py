"""CaLMQA's score of a long answer: S = surface × factual × relevant, with scorers to be plugged in.

Surface faults are found here (another language than the question's, repetition). Whether claims are true and the answer
is to the point takes search and a strong model; the benchmark's authors used VERIScore and GPT-4o.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Real
from statistics import fmean
from typing import Any, Protocol

from excam.evaluation.asked import Answer, Asked
from excam.fault import UserError
from excam.surface import Surface, surface_of

UNIDENTIFIABLE = frozenset({"bal", "rn", "pap", "hil"})
"""Left out by the authors, because identifying them fails too often: Balochi, Kirundi, Papiamento, Hiligaynon."""


class Scorer(Protocol):
    """How factual, or how relevant, an answer is: between 0 and 1."""

    def __call__(self, question: str, answer: str) -> float: ...


@dataclass(frozen=True)
class LongAnswer:
    """One answer scored; ``factual`` and ``relevant`` are asked only of answers without a surface fault."""

    asked: Asked
    surface: Surface
    factual: float | None
    relevant: float | None

    @property
    def sound(self) -> bool:
        return not (self.surface.wrong_language or self.surface.repetition)

    @property
    def score(self) -> float:
        """S of this answer."""
        return self.factual * self.relevant if self.factual is not None and self.relevant is not None else 0.0


def score_all(
    answers: Iterable[tuple[Asked, Answer]], factual: Scorer | None = None, relevant: Scorer | None = None
) -> list[LongAnswer]:
    """Every answer in a language that can be identified; a score in the file stands before a scorer's."""
    found = []
    for asked, one in answers:
        if asked.language in UNIDENTIFIABLE:
            continue
        scored = LongAnswer(asked, surface_of(asked.question, one.answer, asked.language), None, None)
        if scored.sound:
            marks = (_mark("factual", asked, one, factual), _mark("relevant", asked, one, relevant))
            scored = LongAnswer(asked, scored.surface, *marks)
        found.append(scored)
    return found


def _mark(name: str, asked: Asked, answer: Answer, scorer: Scorer | None) -> float:
    given: float | None = getattr(answer, name)
    if given is not None:
        return given
    if scorer is None:
        raise UserError(
            f"nothing says how {name} the answer to {asked.question_id} is",
            f"add a column {name} between 0 and 1 to the answers, or give a scorer with --{name} MODULE:NAME",
        )
    value: Any = scorer(asked.question, answer.answer)
    if not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise UserError(f"the {name} scorer said {value} of {asked.question_id}", "a scorer answers between 0 and 1")
    return float(value)


@dataclass(frozen=True)
class Calmqa:
    """A line of CaLMQA's Table 2; factual and relevant are means over the answers without a surface fault."""

    n: int
    wrong_language: float
    repetition: float
    sound: float
    factual: float
    relevant: float
    score: float


def calmqa(answers: Sequence[LongAnswer]) -> Calmqa:
    """The means of a set of answers; nan of an empty one."""
    if not answers:
        return Calmqa(0, *[math.nan] * 6)
    sound = [one for one in answers if one.sound]
    return Calmqa(
        n=len(answers),
        wrong_language=fmean(one.surface.wrong_language for one in answers),
        repetition=fmean(one.surface.repetition for one in answers),
        sound=len(sound) / len(answers),
        factual=fmean(one.factual or 0.0 for one in sound) if sound else math.nan,
        relevant=fmean(one.relevant or 0.0 for one in sound) if sound else math.nan,
        score=fmean(one.score for one in answers),
    )
