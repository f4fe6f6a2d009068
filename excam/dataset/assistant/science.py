"""School science and how things work: facts that are the same everywhere."""

from __future__ import annotations

import random

from excam.dataset.assistant.family import Chore, Family, pick, table
from excam.dataset.item import Task


def _elements(rng: random.Random) -> list[list[str]]:
    """Four elements with their symbols and numbers, the first of which is asked about."""
    return rng.sample(table("facts")["element"], 4)


def _symbol(rng: random.Random) -> Chore:
    (name, symbol, _), (_, other, _), *_ = _elements(rng)
    ask = pick(
        rng, ("What is the chemical symbol of {}?", "Symbol for {}?", "How is {} written in the periodic table?")
    )
    return Chore(ask.format(name), symbol, (other,))


def _atomic(rng: random.Random) -> Chore:
    rows = _elements(rng)
    options = tuple(number for _, _, number in rows)
    return Chore(f"What is the atomic number of {rows[0][0]}?", options[0], options[1:], options)


def _element(rng: random.Random) -> Chore:
    rows = _elements(rng)
    options = tuple(name for name, _, _ in rows)
    return Chore(f"Which element has the symbol {rows[0][1]}?", options[0], options[1:], options)


def _quiz(part: int) -> Family:
    def make(rng: random.Random) -> Chore:
        question, right, others = rng.choice(table("facts")["quiz"][part::4])
        shown = (right, *rng.sample(others, rng.randint(2, 3)))
        return Chore(question, right, shown[1:], shown)

    return Family(f"science/quiz{part}", make, task=Task.QA_OPTIONS)


def _text(part: int) -> Family:
    def make(rng: random.Random) -> Chore:
        topic, right, wrong = rng.choice(table("facts")["text"][part::8])
        return Chore(topic, right, (wrong,))

    return Family(f"science/text{part}", make, task=Task.TEXT_GENERATION)


FAMILIES = (
    Family("science/symbol", _symbol, task=Task.FREEFORM_QA),
    Family("science/atomic", _atomic, task=Task.QA_OPTIONS),
    Family("science/element", _element, task=Task.QA_OPTIONS),
    *(_quiz(part) for part in range(4)),
    *(_text(part) for part in range(8)),
)
