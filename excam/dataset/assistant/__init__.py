"""Ordinary assistant work: what most production traffic is, right and wrong, and never about culture."""

from __future__ import annotations

import random
from collections.abc import Iterator

from excam.dataset.assistant import code, languages, numbers, science, writing
from excam.dataset.assistant.family import Chore, Family
from excam.dataset.draw import stream
from excam.dataset.item import Item, Task

SOURCE = "assistant"
ENGLISH_CHORES = 5
"""English families give so many times the chores of one in another language, of which there are many alike."""
_TRIES = 4
_ROLES = (
    "a typical person from Brazil",
    "a typical person from Japan",
    "a typical person from Nigeria",
    "a typical person from Germany",
    "a typical person from Indonesia",
    "a typical person from Mexico",
    "Age=31; Sex=Female; Nat.=India; Lang.=English.",
    "Age=58; Sex=Male; Nat.=Ireland; Lang.=English.",
    "a school teacher",
    "a nurse",
    "an office manager",
    "a student of economics",
    "a helpful assistant",
)
"""Roles for ordinary questions: a judge must not take a role, or a country in it, for a cultural question."""


def all_families() -> tuple[Family, ...]:
    """Every family of chores, in a fixed order."""
    return (*numbers.FAMILIES, *code.FAMILIES, *writing.FAMILIES, *science.FAMILIES, *languages.families())


def _disguised(family: Family, rng: random.Random) -> tuple[Task, str | None]:
    """One English chore in six is put to somebody in a role, as questions about culture often are."""
    if family.language == "en" and family.task in (Task.ASSISTANT, Task.FREEFORM_QA) and rng.random() < 1 / 6:
        return Task.IMPERSONATION, rng.choice(_ROLES)
    return family.task, family.role


def assistant_items(seed: int, chores: int) -> Iterator[Item]:
    """Up to ``chores`` different chores of every family, and more of the English ones, as items not about culture."""
    for family in all_families():
        per_family = chores * (ENGLISH_CHORES if family.language == "en" else 1)
        seen: set[tuple[str, str]] = set()
        rng = stream(seed, SOURCE, family.name)
        for _ in range(per_family * _TRIES):
            if len(seen) == per_family:
                break
            chore = family.make(rng)
            if (chore.question, chore.right) in seen:
                continue
            seen.add((chore.question, chore.right))
            task, role = _disguised(family, rng)
            yield Item(
                item_id=f"{SOURCE}:{family.name}:{len(seen)}",
                group=f"{SOURCE}:{family.name}",
                source=SOURCE,
                task=task,
                question=chore.question,
                gold=chore.right,
                wrong=tuple(wrong for wrong in chore.wrong if wrong != chore.right),
                options=chore.options,
                language=family.language,
                role=role,
                cultural=False,
            )


__all__ = ["SOURCE", "Chore", "Family", "all_families", "assistant_items"]
