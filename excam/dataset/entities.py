"""Finds the cultural entities of a text and what could stand in their place: the lexicon is data (entities.toml)."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any

from excam.dataset.item import Item

_SETTINGS = frozenset({"starts", "endings", "prefixes", "unspaced", "josa"})
_JOSA = "|".join(
    "에서는 에서도 에서 에는 에도 에게 으로 까지 부터 이나 이라 은 는 이 가 을 를 의 에 과 와 도 로 만 인".split()
)
# Letters, vowel signs that Python does not count as letters, and hyphens: what makes a longer word of an entity.
_JOINS = r"[\w\-\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963]"


@dataclass(frozen=True)
class Mention:
    """An entity in a text: where it stands, of which kind it is, and which country it stands for."""

    start: int
    end: int
    surface: str
    kind: str
    country: str
    ending: str = ""


class Lexicon:
    """The entities of one language."""

    def __init__(self, table: dict[str, Any]) -> None:
        self._starts = frozenset(table.get("starts", ()))
        self._batchim = bool(table.get("josa"))
        self.kinds: dict[str, dict[str, tuple[str, ...]]] = {}
        self._known: dict[str, tuple[str, str]] = {}
        for kind, countries in table.items():
            if kind in _SETTINGS:
                continue
            forms = {code: (found,) if isinstance(found, str) else tuple(found) for code, found in countries.items()}
            self.kinds[kind] = forms
            for code, surfaces in forms.items():
                for surface in surfaces:
                    self._known.setdefault(surface, (kind, code))
        self._pattern = _pattern(sorted(self._known, key=lambda surface: (-len(surface), surface)), table)

    def mentions(self, text: str) -> Iterator[Mention]:
        """Every entity of the text, the longest first where one lies in another."""
        for found in self._pattern.finditer(text):
            surface, ending = found.group("entity"), found.groupdict().get("ending") or ""
            kind, country = self._known[surface]
            if not ending or kind in self._starts:
                start = found.start("entity")
                yield Mention(start, start + len(surface) + len(ending), surface, kind, country, ending)

    def others(self, mention: Mention) -> Iterator[tuple[str, str]]:
        """The entities of other countries that could stand where ``mention`` stands, each with its country."""
        for country, surfaces in self.kinds[mention.kind].items():
            if country != mention.country:
                for surface in surfaces:
                    if not self._batchim or _closed(surface) == _closed(mention.surface):
                        yield surface + mention.ending, country


def _pattern(surfaces: list[str], table: dict[str, Any]) -> re.Pattern[str]:
    entity = "(?P<entity>" + "|".join(map(re.escape, surfaces)) + ")"
    if table.get("unspaced"):
        return re.compile(entity)
    before = f"(?<!{_JOINS})"
    if "prefixes" in table:
        before += f"(?:{'|'.join(map(re.escape, table['prefixes']))})?"
    if table.get("josa"):
        return re.compile(f"{before}{entity}(?=(?:{_JOSA})?(?!{_JOINS}))")
    after = f"(?P<ending>{'|'.join(sorted(table['endings'], key=len, reverse=True))})" if "endings" in table else ""
    return re.compile(f"{before}{entity}{after}(?!{_JOINS})")


def _closed(word: str) -> bool:
    """Whether a Korean word ends in a consonant: the particle after it depends on that."""
    last = ord(word[-1])
    return 0xAC00 <= last <= 0xD7A3 and (last - 0xAC00) % 28 != 0


@cache
def lexicons() -> dict[str, Lexicon]:
    """The lexicon of every language that has one."""
    tables = tomllib.loads(files("excam.dataset").joinpath("entities.toml").read_text("utf-8"))
    return {language: Lexicon(table) for language, table in sorted(tables.items())}


def home_of(item: Item, lexicon: Lexicon) -> str | None:
    """The country an item is about: as the source says, or else the only one its question or its answer names."""
    if item.country:
        return item.country
    asked = Counter(mention.country for mention in lexicon.mentions(item.question))
    told = Counter(mention.country for mention in lexicon.mentions(item.gold))
    for counts in (asked, told):
        if len(counts) == 1:
            return next(iter(counts))
    return None
