"""Text as the matcher reads it: lower case, a space for every sign that ends a word, the same length throughout.

Equal length is the point: a place in the folded text is the same place in the readable one, where capitals and
punctuation are still there to be asked about.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from excam.composed import composed

# Every sign that ends a word. Listed, because \w calls the vowel signs of Indic scripts and Thai no part of a word.
_SIGNS = re.compile(
    r"[\x00-\x1f!-/:-@\[-`{-\xa9\xab-\xb4\xb6-\xb9\xbb-\xbf×÷ʻʼ،؛؟۔।॥፠-፨\u2000-\u206f\u2190-\u2bff\u3000-\u303f・\uff00-\uff0f"
    r"\uff1a-\uff20\uff3b-\uff40\uff5b-\uff65\ufeff]"
)


class Folded(NamedTuple):
    """The same text twice: as written, and lower-cased with signs blanked; a space on either end of both."""

    written: str
    low: str


def readable(text: str) -> str:
    """Canonical composition, and the one letter whose lower case is longer than itself replaced."""
    return composed(text).replace("İ", "I")


def blanked(text: str) -> str:
    """The composed text with every sign that ends a word turned into a space."""
    return _SIGNS.sub(" ", readable(text))


def fold(text: str) -> Folded:
    """Fold a text for matching, in one linear pass each for composition, signs and case."""
    written = " " + readable(text) + " "
    return Folded(written, _SIGNS.sub(" ", written).lower())
