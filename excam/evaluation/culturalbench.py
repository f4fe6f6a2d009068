"""CulturalBench Easy and Hard, put to a judge instead of to a chatbot.

Easy shows the four options: the judge picks the one it finds least likely to be an error. Hard states each alone: the
judge says of each whether it is an error, and a question counts only if all four judgements are right.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from excam.country import normalise
from excam.dataset.item import BadRecord
from excam.dataset.sources.culturalbench import NAME, SOURCE, Judgement
from excam.dataset.sources.records import UNREAD, read_rows
from excam.fault import UserError
from excam.report import Status
from excam.stats import wilson

OPTIONS = 4
CHANCE = {"easy": 1 / OPTIONS, "hard": 0.5**OPTIONS}


@dataclass
class Question:
    """A question with its four options and which of them are true."""

    question_id: str
    question: str
    country: str | None
    options: list[str] = field(default_factory=list)
    true: list[bool] = field(default_factory=list)


def read_questions(root: Path, only: frozenset[str] | None = None) -> list[Question]:
    """Questions whose four options all have their truth; ``only`` names items, such as those of the test split."""
    paths = SOURCE.find(root)
    if not paths:
        raise UserError(f"{SOURCE.title} is not in {root / NAME}", SOURCE.get_it)
    found: dict[str, Question] = {}
    for path in paths:
        for row in read_rows(NAME, path, Judgement):
            if isinstance(row, BadRecord):
                if row.reason.startswith(UNREAD):
                    raise UserError(f"{row.place}: {row.reason}", "get the file again")
                continue  # the multiple-choice file says nothing of each option
            one = row[1]
            if only is None or f"{NAME}:{one.question_id}" in only:
                question = found.setdefault(
                    one.question_id, Question(one.question_id, one.question, normalise(one.country))
                )
                if one.option not in question.options:  # the same table may lie there in two formats
                    question.options.append(one.option)
                    question.true.append(one.true)
    return [one for one in found.values() if len(one.options) == OPTIONS and any(one.true)]


def pairs(questions: Sequence[Question]) -> Iterator[dict[str, Any]]:
    """The eight pairs of each question to judge, with what they belong to."""
    for one in questions:
        listed = "\n".join(f"Option {letter}: {text}" for letter, text in zip("ABCD", one.options, strict=True))
        for place, option in enumerate(one.options):
            key = {"question_id": one.question_id, "place": place, "output": option}
            yield {**key, "form": "easy", "instruction": f"{one.question}\n{listed}"}
            yield {**key, "form": "hard", "instruction": one.question}


@dataclass(frozen=True)
class Result:
    """How many questions a judge got right in one form, in all or of one country."""

    form: str
    country: str
    right: int
    n: int

    @property
    def accuracy(self) -> float:
        return self.right / self.n

    @property
    def interval(self) -> tuple[float, float]:
        return wilson(self.right, self.n)


def results(questions: Sequence[Question], judged: Sequence[Mapping[str, Any]]) -> list[Result]:
    """Easy and Hard over all questions, then by country; a question with a judgement failed or missing is not right."""
    verdicts = {(row["form"], row["question_id"], row["place"]): row for row in judged}
    count: dict[tuple[str, str], list[int]] = {}
    for one in questions:
        for form in CHANCE:
            found = [verdicts.get((form, one.question_id, place), {}) for place in range(OPTIONS)]
            rows = [row for row in found if row.get("status")]
            right = len(rows) == OPTIONS and _right(form, one, rows)
            for country in ("", one.country or "none"):
                seen = count.setdefault((form, country), [0, 0])
                seen[0] += right
                seen[1] += 1
    order = sorted(count, key=lambda key: (key[1], key[0]))
    return [Result(form, country, *count[form, country]) for form, country in order]


def _right(form: str, question: Question, rows: Sequence[Mapping[str, Any]]) -> bool:
    if form == "hard":
        return all((row["status"] == Status.ERROR) != true for row, true in zip(rows, question.true, strict=True))
    chances = [row["p_error"] for row in rows]
    return chances.count(min(chances)) == 1 and question.true[chances.index(min(chances))]
