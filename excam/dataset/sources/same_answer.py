"""Decides whether two short answers may mean the same thing, erring towards yes.

A wrong option must be something nobody of a region would have answered. Answers are free text, often translated,
so equality is far too narrow: spelling, plural, order of words, a more general word or another name for the same
thing all count as the same. A false yes costs one option, a false no would put a right answer among the errors.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from rapidfuzz.distance import Levenshtein

if TYPE_CHECKING:
    from nltk.stem.snowball import EnglishStemmer

SPELLING = 0.75
"""Share of letters two words must have in common, in order, to be spellings of one word (gimchi, kimchi)."""

NUMBERS_WITHIN = 0.10
MINUTES_WITHIN = 30


@cache
def _stem(word: str) -> str:
    return _stemmer().stem(word) if word.isascii() else word


@cache
def _stemmer() -> EnglishStemmer:
    # The package brings scipy along: seconds that only building a dataset should take.
    from nltk.stem.snowball import EnglishStemmer

    return EnglishStemmer()


@cache
def plain(text: str) -> str:
    """Case, accents and punctuation taken away: what is left when an answer is only compared."""
    letters = unicodedata.normalize("NFKD", text.casefold())
    bare = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return " ".join(re.sub(r"[^\w:./]+", " ", bare.replace("'", "")).split()).strip(" .")


@dataclass(frozen=True)
class Meaning:
    """An answer as compared: its plain text, the stems that carry it, and its value when it is a number or a time."""

    text: str
    stems: frozenset[str]
    number: float | None
    minutes: int | None


@cache
def meaning(answer: str) -> Meaning:
    """Read an answer once; the same few thousand answers are compared millions of times."""
    text = plain(answer)
    clock = re.fullmatch(r"(\d{1,2}):(\d{2})", text)
    number = re.fullmatch(r"\d+(?:\.\d+)?", text)
    words = [word for word in re.split(r"[\s:./]+", text) if word and word not in _everyday()["linking"]]
    stems = frozenset(_stem(word) for word in words) or frozenset(text.split())
    return Meaning(
        text=text,
        stems=stems,
        number=float(number.group()) if number else None,
        minutes=int(clock.group(1)) * 60 + int(clock.group(2)) if clock else None,
    )


@cache
def _everyday() -> dict[str, Any]:
    words = tomllib.loads(files(__package__).joinpath("everyday.toml").read_text(encoding="utf-8"))
    return {**words, "linking": frozenset(words["linking"]), "weak": frozenset(_stem(word) for word in words["weak"])}


@cache
def _relatives() -> dict[frozenset[str], set[frozenset[str]]]:
    relatives: dict[frozenset[str], set[frozenset[str]]] = {}
    for names in _everyday()["same"]:
        terms = {meaning(name).stems for name in names}
        for term in terms:
            relatives.setdefault(term, set()).update(terms)
    for kind, members in _everyday()["kinds"].items():
        general = meaning(kind).stems
        for member in members:
            relatives.setdefault(meaning(member).stems, set()).add(general)
            relatives.setdefault(general, set()).add(meaning(member).stems)
    return relatives


class Synonyms:
    """Other names for an answer: those annotators gave for one thing, and those everybody uses."""

    def __init__(self, lists: Iterable[Iterable[str]] = ()) -> None:
        self._learnt: dict[frozenset[str], set[frozenset[str]]] = {}
        self._of: dict[frozenset[str], frozenset[frozenset[str]]] = {}
        for names in lists:
            stems = {meaning(name).stems for name in names}
            if len(stems) > 1:
                for one in stems:
                    self._learnt.setdefault(one, set()).update(stems - {one})

    def of(self, stems: frozenset[str]) -> frozenset[frozenset[str]]:
        """Everything that may be meant by these words: learnt names, common names, and those of each single word."""
        if stems not in self._of:
            single = (_relatives().get(frozenset({stem}), set()) for stem in stems)
            self._of[stems] = frozenset(self._learnt.get(stems, ())).union(_relatives().get(stems, set()), *single)
        return self._of[stems]


COMMON = Synonyms()
"""The names that everybody uses, and none that annotators gave."""


class Given:
    """What the annotators of one region answered to one question, made ready to be asked about other answers."""

    def __init__(self, answers: Iterable[str], synonyms: Synonyms) -> None:
        meanings = [meaning(answer) for answer in answers]
        self._texts = {found.text for found in meanings}
        self._sets = {found.stems for found in meanings}
        self._stems = frozenset(stem for found in meanings for stem in found.stems) - _everyday()["weak"]
        self._names = {name for found in meanings for name in synonyms.of(found.stems)}
        self._numbers = sorted(found.number for found in meanings if found.number is not None)
        self._minutes = sorted(found.minutes for found in meanings if found.minutes is not None)
        self._synonyms = synonyms

    def covers(self, answer: str) -> bool:
        """Whether someone may already have given this answer."""
        asked = meaning(answer)
        if asked.text in self._texts or not asked.stems:
            return True
        if asked.number is not None:
            return _within(asked.number, self._numbers, abs(asked.number) * NUMBERS_WITHIN)
        if asked.minutes is not None:
            return _within(asked.minutes, self._minutes, MINUTES_WITHIN)
        if asked.stems & self._stems or asked.stems in self._sets:
            return True
        names = self._synonyms.of(asked.stems)
        if asked.stems in self._names or names & self._sets or any(name <= asked.stems for name in self._names):
            return True
        return any(_spelt_alike(one, other) for one in asked.stems for other in self._stems)


def _within(value: float, given: list[float] | list[int], margin: float) -> bool:
    return bool(given) and given[0] - margin <= value <= given[-1] + margin


@cache
def _spelt_alike(one: str, other: str) -> bool:
    if min(len(one), len(other)) < 4:
        return False
    return one in other or other in one or Levenshtein.normalized_similarity(one, other) >= SPELLING
