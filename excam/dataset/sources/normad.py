"""NormAd: short stories, each judged acceptable or not by the etiquette of one country, with the rule that decides.

Stories labelled neutral are left out: there the rule shown has nothing to do with the story, so neither "yes" nor
"no" is wrong. The owners keep the text out of crawls: it is read where the user put it and never copied here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, field_validator

from excam.country import normalise
from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.grouping import Groups, digest
from excam.dataset.sources.places import home
from excam.dataset.sources.records import Row, Words, read_rows
from excam.dataset.sources.same_answer import plain
from excam.dataset.sources.source import Source

NAME = "normad"
_ANSWERS = {"yes": ("Yes", "No"), "no": ("No", "Yes")}


class Story(Row):
    """A story with its label; background and axes are in the published file only."""

    story_id: Words = Field(validation_alias=AliasChoices("ID", "id"))
    country: Words = Field(validation_alias=AliasChoices("Country", "country"))
    story: Words = Field(validation_alias=AliasChoices("Story", "story"))
    rule: Words = Field(validation_alias=AliasChoices("Rule-of-Thumb", "rule_of_thumb"))
    label: Literal["yes", "no", "neutral"] = Field(validation_alias=AliasChoices("Gold Label", "gold_label"))
    background: str | None = Field(default=None, validation_alias=AliasChoices("Background", "background"))
    subaxis: str | None = Field(default=None, validation_alias=AliasChoices("Subaxis", "subaxis"))

    @field_validator("label", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value


@dataclass(frozen=True)
class _Told:
    place: str
    story: Story
    country: str


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """One item a story whose action the country's etiquette allows or forbids."""
    told: dict[str, _Told] = {}
    for path in paths:
        for row in read_rows(NAME, path, Story):
            if isinstance(row, BadRecord):
                yield row
                continue
            place, story = row
            country = normalise(story.country)
            if country is None:
                yield BadRecord(source=NAME, place=place, reason=f"Country: {story.country!r} is not a country")
            elif story.label == "neutral":
                yield BadRecord(
                    source=NAME, place=place, reason="left out: the rule says nothing about a neutral story"
                )
            elif (known := told.get(story.story_id)) and _story_key(known.story) != _story_key(story):
                yield BadRecord(source=NAME, place=place, reason="ID: stands twice, with another story")
            elif known is None or (story.background and not known.story.background):
                told[story.story_id] = _Told(place, story, country)
    groups = Groups()
    for found in told.values():
        groups.join(_story_key(found.story), _rule_key(found.story))
    with_background = len({found.story.label for found in told.values() if found.story.background}) > 1
    for found in told.values():
        yield _item(found, groups.name(_story_key(found.story)), with_background)


def _story_key(story: Story) -> str:
    return f"story {digest(plain(story.story))}"


def _rule_key(story: Story) -> str:
    return f"rule {digest(plain(story.rule))}"


def _item(found: _Told, group: str, with_background: bool) -> Item:
    """The background is shown only where stories of both labels have one, or it would tell the label."""
    story, (gold, wrong) = found.story, _ANSWERS[found.story.label]
    return Item(
        item_id=f"{NAME}:{story.story_id}",
        group=f"{NAME}:{group}",
        source=NAME,
        task=Task.IMPERSONATION,
        question=story.story,
        gold=gold,
        wrong=(wrong,),
        country=found.country,
        language="en",
        topic=story.subaxis.replace("_", " ") if story.subaxis else None,
        role=f"a typical person from {home(found.country)}",
        context=(story.background or "").strip() or None if with_background else None,
        explanation=story.rule,
    )


SOURCE = Source(
    name=NAME,
    title="NormAd-Eti: stories judged by the etiquette of 75 countries",
    licence="CC BY 4.0",
    get_it="Dataset akhilayerukola/NormAd on the Hugging Face hub: put its CSV file under normad/.",
    patterns=("**/*.jsonl.gz", "**/*.csv", "**/*.parquet"),
    read=read,
)
