"""Read a country out of a metadata field, however it was spelled there, and write one for people to read."""

from __future__ import annotations

import re
from functools import cache, lru_cache

from excam.country.sources import alpha3, cities, cldr, every_language, listed, unaccented

_LOCALE = re.compile(r"[a-z]{2,3}[-_](?:[A-Za-z]{4}[-_])?([A-Za-z]{2})(?:[-_.@].*)?")
_BRACKETS = re.compile(r"\s*[(\[].*?[)\]]\s*")
_BETWEEN_WORDS = re.compile(r"[\s_.,'’`&/-]+")
_LONGEST = 100


@cache
def _common() -> dict[str, str]:
    """Code by folded spelling, in English and from the hand-kept lists; earlier sources win."""
    codes: dict[str, str] = {}
    for code, name in _english().items():
        codes.setdefault(_folded(name), code)
    for file in ("names.txt", "regions.txt", "demonyms.txt"):
        for code, form, mark in listed(file):
            if mark != "*":
                codes.setdefault(_folded(form), code)
    return codes


@cache
def _rare() -> dict[str, str]:
    """The same for every language of CLDR and for large cities; a second to read, so only when the common ones fail."""
    names: dict[str, str] = {}
    for _, code, name in cldr(every_language()):
        names.setdefault(name, code)
    codes: dict[str, str] = {}
    for name, code in names.items():
        codes.setdefault(_folded(name), code)
        if (typed := unaccented(name)) != name:
            codes.setdefault(_folded(typed), code)
    for city in cities(1_000_000):
        codes.setdefault(_folded(city.name), city.code)
    return codes


@cache
def _english() -> dict[str, str]:
    return {code: name for _, code, name in cldr(("en",))}


def _folded(name: str) -> str:
    if name.isalpha():
        return name.casefold()
    words = _BETWEEN_WORDS.sub(" ", name.casefold().replace("&", " and ")).split()
    return " ".join(words[1:] if len(words) > 1 and words[0] == "the" else words)


@lru_cache(maxsize=4096)
def normalise(name: str) -> str | None:
    """The alpha-2 code a spelling stands for, None where it stands for none.

    Takes ISO codes, locale tags, names in any CLDR language, demonyms, regions and large cities; brackets, articles,
    underscores, case and "Korea, Republic of" do not matter.
    """
    name = name.strip()
    if not name or len(name) > _LONGEST:
        return None
    upper = name.upper()
    if len(name) == 2 and upper in _english() and name != "na":
        return upper
    if len(name) == 3 and upper in alpha3():
        return alpha3()[upper]
    if (locale := _LOCALE.fullmatch(name)) and locale[1].upper() in _english():
        return locale[1].upper()
    last, _, first = name.partition(", ")
    spellings = {_folded(spelling): None for spelling in (name, _BRACKETS.sub(" ", name), f"{first} {last}")}
    for codes in (_common, _rare):
        for spelling in spellings:
            if code := codes().get(spelling) or codes().get(spelling.removesuffix("s")):
                return code
    return None


def from_yaml(name: object) -> object:
    """A country as a YAML file names it: a bare NO is read as false there, and means Norway."""
    return "NO" if name is False else name


def country_name(code: str) -> str:
    """The English name of an alpha-2 code; an unknown code stays as it is, so that a table can always be printed."""
    return _english().get(code.upper(), code)
