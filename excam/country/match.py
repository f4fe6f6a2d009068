"""Find the countries a text names: Aho–Corasick over all names at once, the longest of them, then what is around."""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from excam.country.cues import speaks_for
from excam.country.gazetteer import Name
from excam.country.inflect import TAILS, Tail, unspaced
from excam.country.kept import load_names
from excam.country.text import fold

_WITHIN_KATAKANA = re.compile(r"[ァ-ヺー]{2}")

_Hit = tuple[int, int, int, Name]


@cache
def automata() -> tuple[Any, Any]:
    """Two automata, because a root with thousands of Han characters would slow every other script down."""
    import ahocorasick

    built = []
    for keys in load_names():
        automaton = ahocorasick.Automaton()
        for key, name in keys.items():
            automaton.add_word(key, (len(key), name))
        automaton.make_automaton()
        built.append(automaton)
    return built[0], built[1]


def mentions(instruction: str, output: str = "") -> tuple[str, ...]:
    """Codes of the countries a pair names, in order of first mention, the instruction's before the output's."""
    text = fold(f"{instruction}\n{output}" if output else instruction)
    low = text.low
    spaced, free = automata()
    hits: list[_Hit] = []
    for last, (length, name) in spaced.iter(low):
        end = last + 1
        if low[end] == " ":
            hits.append((end - length + 1, -end, -length, name))
        elif name.tail is not Tail.NONE and (tail := TAILS[name.tail].match(low, end)):
            hits.append((end - length + 1, -tail.end(), -length, name))
    if not low.isascii() and unspaced(low):
        for last, (length, name) in free.iter(low):
            start, end = last + 1 - length, last + 1
            if TAILS[name.tail].match(low, end) and not _WITHIN_KATAKANA.match(low, start - 1):
                hits.append((start, -end, -length, name))
    found: dict[str, None] = {}
    reached = 0
    for start, minus_end, _, name in sorted(hits):
        if start >= reached:
            reached = -minus_end
            if name.code and name.code not in found and speaks_for(name, text, start, reached):
                found[name.code] = None
    return tuple(found)
