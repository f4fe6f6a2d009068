"""One form for letters that can be written in several ways, in time that does not grow with the square of the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import accumulate, pairwise
from typing import Literal
from unicodedata import category, combining, normalize

MOST_MARKS = 30  # one after the other, Unicode's own limit for text that is to be normalised as a stream

_NO_LETTERS = re.compile(rf"[^\w\s]{{{MOST_MARKS + 1},}}")  # no mark is a letter, and such runs are rare
_JAMO = range(0x1160, 0x1200)  # the parts of a Korean syllable that follow its first


def composed(text: str, form: Literal["NFC", "NFKC"] = "NFC") -> str:
    """The text in a normal form; of more marks on one letter than any script has, those beyond thirty are left out.

    Marks are put in order by comparing each with each, so a letter under 200,000 of them would take minutes.
    """
    return text if text.isascii() else normalize(form, _NO_LETTERS.sub(lambda run: _few_marks(run[0]), text))


def composed_with_places(text: str) -> tuple[str, list[int]]:
    """The composed text, and for each of its characters, and its end, the place in the text where its letter begins."""
    parts, places = [], []
    for start, end in pairwise([*_letters(text), len(text)]):
        part = composed(text[start:end])
        parts.append(part)
        places += [start] * len(part)
    return "".join(parts), [*places, len(text)]


def _few_marks(run: str) -> str:
    counts = accumulate(run, lambda count, character: count + 1 if combining(character) else 0, initial=0)
    next(counts)
    return "".join(character for character, count in zip(run, counts, strict=True) if count <= MOST_MARKS)


def _letters(text: str) -> Iterator[int]:
    """Where a letter begins with the marks that belong to it."""
    for place, character in enumerate(text):
        if place == 0 or not (category(character)[0] == "M" or ord(character) in _JAMO):
            yield place
