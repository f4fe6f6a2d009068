"""What the gate learns from: ExCAM40k's pairs, and short texts made of words, so that no language has one kind only.

ExCAM40k has cultural pairs in a few dozen languages and ordinary ones in others; alone it would teach the gate
languages, not subjects. The word list and the names of all countries in all languages of the CLDR even that out.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from excam.fault import UserError
from excam.relevance.features import Pair
from excam.report import Status

COLUMNS = ["source", "instruction", "output", "label", "language", "group"]
TEXTS = pa.schema([pa.field(name, pa.large_string()) for name in COLUMNS])
WORD_LIST = Path(__file__).with_name("lexicon.toml")
WORDS, NAMES = "words", "names"

TEXTS_A_LANGUAGE = 250
TEXTS_OF_NAMES = 20_000
LARGE_CITY = 400_000
NUMBERS = ("7", "12", "20", "100", "3.5", "18:00", "05/02", "1 2 3 4")
NUMBER_SHARE = 0.15
NAME_SHARE = {True: 0.5, False: 0.05}  # of the texts of each kind that name a country


class Example(NamedTuple):
    """A pair whose kind is known, with where it comes from and the language it is in; a group is never taken apart."""

    instruction: str
    output: str
    cultural: bool
    source: str
    language: str
    group: str = ""

    @property
    def pair(self) -> Pair:
        return self.instruction, self.output


def read_split(path: Path) -> list[Example]:
    """The pairs of one split of ExCAM40k; those labelled not applicable are the ordinary ones."""
    fix = "build the dataset with `excam dataset build --out DIR` and give that DIR as --data"
    try:
        table = pq.read_table(path, columns=COLUMNS).select(COLUMNS).cast(TEXTS)
    except (OSError, pa.ArrowException) as error:
        raise UserError(f"{path}: cannot be read as a split of ExCAM40k: {error}", fix) from error
    if empty := [name for name in COLUMNS if table[name].null_count]:
        raise UserError(f"{path}: the column {empty[0]} has rows without a value", "leave such rows out")
    if unknown := sorted(set(table["label"].to_pylist()) - set(Status)):
        raise UserError(f"{path}: there is no label {unknown[0]!r}", f"use {', '.join(Status)}")
    return [
        Example(
            instruction=row["instruction"],
            output=row["output"],
            cultural=row["label"] != Status.NOT_APPLICABLE,
            source=row["source"],
            language=row["language"],
            group=row["group"],
        )
        for row in table.to_pylist()
    ]


@cache
def word_list() -> dict[str, dict[bool, list[str]]]:
    """The words and phrases of every language, cultural (True) and ordinary (False)."""
    kinds = {"culture": True, "ordinary": False}
    languages = tomllib.loads(WORD_LIST.read_text(encoding="utf-8"))
    return {
        language: {kinds[kind]: [word.strip() for word in words.split(",")] for kind, words in lists.items()}
        for language, lists in languages.items()
    }


@cache
def country_names(language: str) -> list[str]:
    """What the countries of the world are called in a language, as the CLDR has it."""
    from babel import Locale

    names = Locale.parse(language).territories
    return [name for code, name in sorted(names.items()) if len(code) == 2 and code not in {"EU", "EZ", "UN", "ZZ"}]


def _words(draw: random.Random, words: list[str], names: list[str], most: int, name_share: float) -> str:
    chosen = draw.sample(words, draw.randint(1, most))
    if draw.random() < name_share:
        chosen.insert(draw.randint(0, len(chosen)), draw.choice(names))
    if draw.random() < NUMBER_SHARE:
        chosen.append(draw.choice(NUMBERS))
    return " ".join(chosen)


def from_words(seed: int) -> Iterator[Example]:
    """Texts of a few words of one kind, often with a country where it is cultural, three times as many in English."""
    draw = random.Random(seed)
    for language, kinds in word_list().items():
        names = country_names(language)
        for cultural, words in kinds.items():
            for _ in range(TEXTS_A_LANGUAGE * (3 if language == "en" else 1)):
                instruction = _words(draw, words, names, 4, NAME_SHARE[cultural])
                output = _words(draw, words, names, 6, NAME_SHARE[cultural] / 2)
                yield Example(instruction, output, cultural, WORDS, language)


@cache
def place_names() -> list[str]:
    """Countries in a hundred languages, peoples and large cities, as the country matcher knows them."""
    from excam.country.sources import SPOKEN, cities, cldr, listed

    countries = {name for _, _, name in cldr(SPOKEN)}
    peoples = {form for _, form, _ in listed("demonyms.txt")}
    return sorted(countries | peoples | {city.name for city in cities(LARGE_CITY)})


def from_names(seed: int) -> Iterator[Example]:
    """Texts of such names alone: whoever names a country, a people or a city may be talking of its culture."""
    draw = random.Random(seed)
    names = place_names()
    for _ in range(TEXTS_OF_NAMES):
        yield Example(" ".join(draw.sample(names, draw.randint(1, 3))), draw.choice(names), True, NAMES, NAMES)
