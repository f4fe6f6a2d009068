"""Wordings by composition: a few natural parts make many natural sentences, and each stands once."""

from __future__ import annotations

import string
from collections.abc import Sequence
from itertools import product


def compose(pattern: str, **parts: Sequence[str]) -> tuple[str, ...]:
    """Every way to fill the ``<name>`` slots of ``pattern``; ``{field}`` slots stay for the item's own text."""
    names = [name for name in parts if f"<{name}>" in pattern]
    made = []
    for choice in product(*(parts[name] for name in names)):
        text = pattern
        for name, value in zip(names, choice, strict=True):
            text = text.replace(f"<{name}>", value)
        made.append(text)
    return tuple(dict.fromkeys(made))


def fields_of(pattern: str) -> frozenset[str]:
    """The names of the ``{field}`` slots in ``pattern``."""
    return frozenset(name for _, name, _, _ in string.Formatter().parse(pattern) if name)
