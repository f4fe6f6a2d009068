"""The same kinds of chores in fifteen more languages, whose wordings are data (languages.toml)."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from excam.dataset.assistant.code import TABLES
from excam.dataset.assistant.family import Chore, Family, off, pick, table
from excam.dataset.item import Task

Slots = dict[str, Any]


def _sum(rng: random.Random) -> Slots:
    a, b = rng.randint(12, 9999), rng.randint(12, 9999)
    return {"a": a, "b": b, "x": a + b}


def _percent(rng: random.Random) -> Slots:
    p, n = rng.choice((5, 10, 15, 20, 25, 40, 75)), rng.randint(2, 90) * 20
    return {"p": p, "n": n, "x": p * n // 100}


def _metres(rng: random.Random) -> Slots:
    a = rng.randint(2, 90)
    return {"a": a, "x": a * 1000}


def _average(rng: random.Random) -> Slots:
    mean, spread = rng.randint(12, 80), rng.randint(1, 9)
    return {"list": f"{mean - spread}, {mean + 2}, {mean + spread}, {mean - 2}", "x": mean}


def _equation(rng: random.Random) -> Slots:
    a, b, x = rng.randint(2, 12), rng.randint(1, 40), rng.randint(2, 30)
    return {"a": a, "b": b, "c": a * x + b, "x": x}


def _area(rng: random.Random) -> Slots:
    a, b = rng.randint(3, 40), rng.randint(3, 40)
    return {"a": a, "b": b, "x": a * b}


def _python(rng: random.Random) -> Slots:
    values = [rng.randint(1, 60) for _ in range(4)]
    return {"list": values, "x": sum(values)}


def _email(rng: random.Random) -> Slots:
    a = rng.randint(9, 19)
    return {"a": a, "x": a}


_NUMERIC: dict[str, Callable[[random.Random], Slots]] = {
    "sum": _sum,
    "percent": _percent,
    "metres": _metres,
    "average": _average,
    "equation": _equation,
    "area": _area,
    "python": _python,
    "email": _email,
}
_ASKED = frozenset({"sum", "percent", "equation"})


def wordings() -> dict[str, dict[str, Any]]:
    """The wordings of every language, by language code and kind."""
    return table("languages")


def _numeric(language: str, kind: str) -> Callable[[random.Random], Chore]:
    question, answer = wordings()[language][kind]

    def make(rng: random.Random) -> Chore:
        slots = _NUMERIC[kind](rng)
        wrong = {**slots, "x": off(rng, slots["x"])}
        return Chore(question.format(**slots), answer.format(**slots), (answer.format(**wrong),))

    return make


def _sort(language: str) -> Callable[[random.Random], Chore]:
    question, answer = wordings()[language]["sort"]

    def make(rng: random.Random) -> Chore:
        values = rng.sample(range(3, 99), 5)
        right, wrong = (", ".join(map(str, sorted(values, reverse=back))) for back in (False, True))
        return Chore(
            question.format(list=", ".join(map(str, values))), answer.format(x=right), (answer.format(x=wrong),)
        )

    return make


def _sql(language: str) -> Callable[[random.Random], Chore]:
    question, answer = wordings()[language]["sql"]

    def make(rng: random.Random) -> Chore:
        table = pick(rng, tuple(TABLES))
        right, wrong = f"SELECT COUNT(*) FROM {table};", f"SELECT * FROM {table} LIMIT 1;"
        return Chore(question.format(table=table), answer.format(x=right), (answer.format(x=wrong),))

    return make


def _grammar(language: str) -> Callable[[random.Random], Chore]:
    def make(rng: random.Random) -> Chore:
        wrong, right = rng.choice(wordings()[language]["grammar"])
        return Chore(wordings()[language]["fix"].format(sentence=wrong), right, (wrong,))

    return make


def families() -> tuple[Family, ...]:
    """Every kind of chore in every language."""
    made = []
    for language in sorted(wordings()):
        made += [
            Family(
                f"{language}/{kind}",
                _numeric(language, kind),
                language,
                Task.FREEFORM_QA if kind in _ASKED else Task.ASSISTANT,
            )
            for kind in _NUMERIC
        ]
        made.append(Family(f"{language}/sort", _sort(language), language))
        made.append(Family(f"{language}/sql", _sql(language), language))
        made.append(Family(f"{language}/grammar", _grammar(language), language))
    return tuple(made)
