"""Where two texts differ, word by word: each difference is one error, and its place is the error's span."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from functools import cache
from typing import Any

_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")


@dataclass(frozen=True)
class Word:
    """A word and where it stands; punctuation never becomes one."""

    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Change:
    """One difference: the words that stand there now, verbatim, and the words they replaced (either may be empty)."""

    start: int
    end: int
    now: str
    before: str


@cache
def _tokenizer() -> Any:
    from nltk.tokenize import NLTKWordTokenizer

    return NLTKWordTokenizer()


def _is_punctuation(text: str) -> bool:
    return all(unicodedata.category(mark)[0] in "PSZC" for mark in text)


def words(text: str) -> list[Word]:
    """The words of a text by NLTK's tokenizer; scripts written without spaces are cut into characters."""
    return [word for token in _tokens(text) for word in _cut(token) if not _is_punctuation(word.text)]


def _tokens(text: str) -> Iterator[Word]:
    # The tokenizer looks for its tokens again in the text and stumbles over quotation marks it rewrote; pieces
    # between white space keep such a stumble local, and offsets exact.
    for piece in re.finditer(r"\S+", text):
        try:
            spans = list(_tokenizer().span_tokenize(piece.group()))
        except ValueError:
            spans = [(0, len(piece.group()))]
        for start, end in spans:
            yield Word(piece.group()[start:end], piece.start() + start, piece.start() + end)


def _cut(token: Word) -> Iterator[Word]:
    if not _UNSPACED.search(token.text):
        yield token
        return
    for place, mark in enumerate(token.text, start=token.start):
        yield Word(mark, place, place + 1)


def changes(before: str, now: str) -> list[Change]:
    """The differences from ``before`` to ``now``. A pure deletion points at the word next to the gap."""
    old, new = words(before), words(now)
    matcher = SequenceMatcher(a=[word.text for word in old], b=[word.text for word in new], autojunk=False)
    found = []
    for tag, old_from, old_to, new_from, new_to in matcher.get_opcodes():
        if tag == "equal" or not new:
            continue
        gone = before[old[old_from].start : old[old_to - 1].end] if old_to > old_from else ""
        if new_to == new_from:
            new_from = max(0, new_from - 1)
            new_to = new_from + 1
        start, end = new[new_from].start, new[new_to - 1].end
        found.append(Change(start, end, now[start:end], gone))
    return found
