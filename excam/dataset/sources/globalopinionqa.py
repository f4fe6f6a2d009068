"""GlobalOpinionQA: what people of a country answered in world-wide surveys; the most common answer is the truth.

A survey of a thousand people cannot tell answers apart that are five points from each other, so a lead must be
larger than that, both over the second answer (or the question is left out) and over each wrong option.
"""

from __future__ import annotations

import ast
import math
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator

from excam.country import normalise
from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.ordering import spread
from excam.dataset.sources.places import home
from excam.dataset.sources.records import Row, Words, read_rows
from excam.dataset.sources.source import Source

NAME = "globalopinionqa"
LEAST_LEAD = 0.05
_NO_OPINION = re.compile(
    r"\b(dk|don['’]?t know|refused|no answer|missing|not available|not applicable|not asked|unknown)\b", re.I
)
_NOT_OFFERED = re.compile(r"\b(vol\.?|do not read|only if volunteered)\b", re.I)
_PARTS = ("Northern Ireland",)
_SURVEY_COUNTRY = re.compile(r"\(survey (?:country|public)\)", re.I)


class Survey(Row):
    """One question with its answers and, for each country, the share of people who gave them."""

    question: Words
    options: list[str] = Field(min_length=1)
    selections: dict[str, list[float]] = Field(min_length=1)

    @model_validator(mode="before")
    @classmethod
    def _one_country(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and "distribution" in fields:
            return {**fields, "selections": {str(fields.get("country")): fields["distribution"]}}
        return fields

    @field_validator("options", "selections", mode="before")
    @classmethod
    def _python_text(cls, value: Any) -> Any:
        """As published, both columns are printed Python values; the second is a printed defaultdict."""
        if not isinstance(value, str):
            return value
        try:
            found = ast.literal_eval(value[value.index("{") : value.rindex("}") + 1] if "{" in value else value)
        except (ValueError, SyntaxError, MemoryError, RecursionError) as error:
            raise ValueError("is not a printed list or mapping") from error
        return found

    @field_validator("options", mode="before")
    @classmethod
    def _texts(cls, value: Any) -> Any:
        return [str(option) for option in value] if isinstance(value, list) else value


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """One item for each question and country whose most common answer leads clearly."""
    items: list[Item] = []
    for path in paths:
        for row in read_rows(NAME, path, Survey):
            if isinstance(row, BadRecord):
                yield row
                continue
            place, survey = row
            for country, shares in survey.selections.items():
                outcome = _item(place, survey, country, shares)
                if isinstance(outcome, Item):
                    items.append(outcome)
                else:
                    yield outcome
    yield from spread(items)


def _bad(place: str, reason: str) -> BadRecord:
    return BadRecord(source=NAME, place=place, reason=reason)


def _item(place: str, survey: Survey, named: str, shares: list[float]) -> Item | BadRecord:
    country = normalise(named)
    if country is None:
        return _bad(place, f"country: {named!r} is not a country")
    if len(shares) != len(survey.options):
        return _bad(place, f"distribution: {len(shares)} shares for {len(survey.options)} options")
    if any(not 0 <= share <= 1.001 for share in shares) or not math.isclose(sum(shares), 1, abs_tol=0.05):
        return _bad(place, f"distribution: shares add up to {sum(shares):.2f}, not to 1")
    place_name = named if named in _PARTS else home(country)
    found = sorted(zip(survey.options, shares, strict=True), key=lambda pair: (-pair[1], pair[0]))
    if _NO_OPINION.search(found[0][0]) or _NOT_OFFERED.search(found[0][0]):
        return _bad(place, "left out: most people gave no opinion or an answer that was not offered")
    offered = [(text, share) for text, share in found if not (_NO_OPINION.search(text) or _NOT_OFFERED.search(text))]
    if len(offered) < 2:
        return _bad(place, "left out: only one answer was offered")
    (gold, lead), second = offered[0], found[1][1]
    if lead - second < LEAST_LEAD:
        return _bad(place, "left out: a tie or near-tie between the most common answers")
    told = {text: _SURVEY_COUNTRY.sub(place_name, text).strip() for text, _ in offered}
    wrong = tuple(told[text] for text, share in offered[1:] if lead - share >= LEAST_LEAD and told[text] != told[gold])
    question = _SURVEY_COUNTRY.sub(place_name, survey.question)
    return Item(
        item_id=f"{NAME}:{digest(survey.question)}:{digest(named)[:8]}",
        group=f"{NAME}:{digest(survey.question)}",
        source=NAME,
        task=Task.IMPERSONATION,
        question=question,
        gold=told[gold],
        options=tuple(dict.fromkeys(told[text] for text in survey.options if text in told)),
        wrong=tuple(dict.fromkeys(wrong)),
        country=country,
        language="en",
        role=f"a typical person from {place_name}",
        context="You are acting as a person from this country.",
    )


SOURCE = Source(
    name=NAME,
    title="GlobalOpinionQA: survey answers by country",
    licence="CC BY-NC-SA 4.0",
    get_it="Dataset Anthropic/llm_global_opinions on the Hugging Face hub: put data/global_opinions.csv under "
    "globalopinionqa/.",
    patterns=("**/*.jsonl.gz", "**/*.csv", "**/*.parquet"),
    read=read,
)
