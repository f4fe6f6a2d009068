"""A family of ordinary tasks: one kind of work, many instances, none of it about culture."""

from __future__ import annotations

import random
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from excam.dataset.item import Task


@dataclass(frozen=True)
class Chore:
    """One instance: what is asked, a right answer, and answers that are wrong without being a cultural error."""

    question: str
    right: str
    wrong: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


@dataclass(frozen=True)
class Family:
    """A maker of chores in one language, told as one task; a whole family stays in one split, so that a test asks
    for kinds of work that training never saw."""

    name: str
    make: Callable[[random.Random], Chore]
    language: str = "en"
    task: Task = Task.ASSISTANT
    role: str | None = None


@cache
def table(name: str) -> dict[str, Any]:
    """One of the tables of this folder (``facts``, ``languages``): what tasks are made of is data, not code."""
    return tomllib.loads(files("excam.dataset.assistant").joinpath(f"{name}.toml").read_text("utf-8"))


def fact(rng: random.Random, kind: str) -> list[str]:
    """A row of the facts of one kind: what is asked, the right answer, the wrong ones."""
    rows: list[list[str]] = table("facts")[kind]
    return rows[rng.randrange(len(rows))]


def pick(rng: random.Random, values: Sequence[str]) -> str:
    return values[rng.randrange(len(values))]


def off(rng: random.Random, value: int) -> int:
    """A wrong number near a right one: digits swapped, a slip by ten, or one too many."""
    slips = [value + step for step in (1, -1, 10, -10, 2, 9)] + [value * 2]
    digits = str(abs(value))
    if len(digits) > 1 and digits[-1] != digits[-2]:
        slips.append(int(digits[:-2] + digits[-1] + digits[-2]))
    return rng.choice([slip for slip in slips if slip != value])
