"""Language codes for the names the sources use, and how an English sentence calls a country."""

from __future__ import annotations

import re
from functools import cache

from babel import Locale

from excam.country import country_name
from excam.language import OTHER_NAMES

_IN_A_SENTENCE = {
    "BA": "Bosnia and Herzegovina",
    "CI": "Ivory Coast",
    "CZ": "the Czech Republic",
    "GB": "the United Kingdom",
    "HK": "Hong Kong",
    "MM": "Myanmar",
    "MO": "Macau",
    "NL": "the Netherlands",
    "PH": "the Philippines",
    "PS": "the Palestinian Territories",
    "TR": "Turkey",
    "US": "the United States",
}


def _plain(name: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", name).split()).casefold()


@cache
def _languages() -> dict[str, str]:
    names = Locale("en").languages
    return {_plain(name): code for code, name in names.items() if "_" not in code}


def home(code: str) -> str:
    """What "a person from …" says for a country: its everyday name, with the article some names take."""
    return _IN_A_SENTENCE.get(code) or country_name(code)


@cache
def language_code(name: str) -> str | None:
    """ISO 639-1 for an English language name, ISO 639-3 where there is no two-letter code, None when unknown."""
    plain = _plain(name)
    return OTHER_NAMES.get(plain) or _languages().get(plain)
