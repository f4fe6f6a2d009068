"""The atlas's questions in other words: ``question|in other words`` and, for a custom, ``|the right answer, too``.

A judge that read a fact in one wording knows it in that wording and hardly in another (docs/experiments.md); one that
meets some facts in several wordings learns to keep facts apart from words.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from excam.dataset.atlas.lines import read_lines
from excam.dataset.draw import stream

Rewordings = Mapping[str, tuple[str, ...]]
"""By the question as its part of the atlas asks it, what stands behind it in the line."""


def read_rewordings(folder: Path, fields: int) -> Rewordings:
    """Every rewording of a folder's files, if there is one, each of so many fields behind the question."""
    found: dict[str, tuple[str, ...]] = {}
    for line in read_lines(folder, 1 + fields):
        question, *others = line.fields
        if len(others) != fields:
            raise line.fault(f"{len(others)} fields stand behind the question where {fields} belong")
        if question in found:
            raise line.fault("the question was put in other words before")
        found[question] = tuple(others)
    return found


def worded(question: str, again: Rewordings, *key: str) -> str:
    """The question in one of its wordings, which one ``key`` decides: a question of many countries is put in both."""
    wordings = (question, *again.get(question, ()))
    return stream("worded", *key).choice(wordings)
