"""Country and language codes for the names the sources use, among them abbreviations and regions of a country."""

from __future__ import annotations

import re
from functools import lru_cache

from babel import Locale

_ODD_COUNTRIES = {
    "assam": "IN",
    "bosnia herzegovina": "BA",
    "bosnia and herzegovina": "BA",
    "britain": "GB",
    "czech rep": "CZ",
    "czech republic": "CZ",
    "england": "GB",
    "great britain": "GB",
    "hong kong": "HK",
    "hong kong sar": "HK",
    "ivory coast": "CI",
    "macau": "MO",
    "macau sar": "MO",
    "myanmar": "MM",
    "north macedonia": "MK",
    "northern ireland": "GB",
    "northern nigeria": "NG",
    "palest ter": "PS",
    "palestine": "PS",
    "s africa": "ZA",
    "s korea": "KR",
    "scotland": "GB",
    "taiwan roc": "TW",
    "turkey": "TR",
    "türkiye": "TR",
    "uae": "AE",
    "uk": "GB",
    "united states of america": "US",
    "us": "US",
    "usa": "US",
    "wales": "GB",
    "west java": "ID",
}
_SHORT_NAMES = {
    "BA": "Bosnia and Herzegovina",
    "CI": "Ivory Coast",
    "HK": "Hong Kong",
    "MM": "Myanmar",
    "MO": "Macau",
    "PS": "the Palestinian Territories",
    "TR": "Turkey",
    "GB": "the United Kingdom",
    "US": "the United States",
    "NL": "the Netherlands",
    "PH": "the Philippines",
    "CZ": "the Czech Republic",
}
_ODD_LANGUAGES = {
    "balochi": "bal",
    "bangla": "bn",
    "dutch flemish": "nl",
    "farsi": "fa",
    "kirundi": "rn",
    "mandarin": "zh",
    "north macedonian": "mk",
    "papiamento": "pap",
    "tagalog": "tl",
}


def _plain(name: str) -> str:
    name = re.sub(r"\(.*?\)", " ", name.replace("_", " "))
    return " ".join(re.sub(r"[^\w\s'’-]", " ", name).split()).casefold()


@lru_cache(maxsize=1)
def _territories() -> dict[str, str]:
    names = Locale("en").territories
    return {_plain(name): code for code, name in names.items() if len(code) == 2 and code.isalpha()}


@lru_cache(maxsize=1)
def _languages() -> dict[str, str]:
    names = Locale("en").languages
    return {_plain(name): code for code, name in names.items() if "_" not in code}


@lru_cache(maxsize=4096)
def country_code(name: str) -> str | None:
    """ISO 3166-1 alpha-2 for a country or a region of one as a source writes it; None when it names neither."""
    plain = _plain(name)
    return _ODD_COUNTRIES.get(plain) or _territories().get(plain)


def country_name(code: str) -> str:
    """What an English sentence calls the country, with its article."""
    return _SHORT_NAMES.get(code) or str(Locale("en").territories[code])


@lru_cache(maxsize=4096)
def language_code(name: str) -> str | None:
    """ISO 639-1 for an English language name, ISO 639-3 where there is no two-letter code, None when unknown."""
    plain = _plain(name)
    return _ODD_LANGUAGES.get(plain) or _languages().get(plain)
