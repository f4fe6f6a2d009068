"""INCLUDE: local exam questions in 44 languages, of which those about a region or a culture are used.

Questions its authors call region-agnostic are ordinary traffic when they are natural science, and left out when
they are not: an agnostic question of the humanities is neither clearly cultural nor clearly not.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import AliasChoices, Field, model_validator

from excam.country import normalise
from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.ordering import show
from excam.dataset.sources.places import language_code
from excam.dataset.sources.records import Row, Words, read_rows
from excam.dataset.sources.source import Source

NAME = "include"
_LETTERS = "abcd"


class Question(Row):
    """A question of the published table; older files keep the options in one list."""

    language: Words
    country: str | None = None
    domain: str = ""
    subject: str | None = None
    feature: str = Field(default="", validation_alias=AliasChoices("regional_feature", "feature"))
    question: Words
    options: list[Words] = Field(min_length=2)
    answer: int = Field(ge=0)

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        fields = dict(fields)
        if "options" not in fields:
            columns = [fields[f"option_{letter}"] for letter in _LETTERS if f"option_{letter}" in fields]
            fields["options"] = columns or fields.get("choices")
        answer = fields.get("answer")
        if isinstance(answer, str) and len(answer) == 1 and answer.lower() in _LETTERS:
            fields["answer"] = _LETTERS.index(answer.lower())
        return fields


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """Regional and cultural questions as cultural items, agnostic science as ordinary ones."""
    for path in paths:
        for row in read_rows(NAME, path, Question):
            yield row if isinstance(row, BadRecord) else _item(*row)


def _item(place: str, question: Question) -> Item | BadRecord:
    language = language_code(question.language)
    agnostic = "agnostic" in question.feature.casefold() or not question.feature.strip()
    if language is None:
        return _bad(place, f"language: {question.language!r} is not a language we know")
    if question.answer >= len(question.options):
        return _bad(place, f"answer: {question.answer} for {len(question.options)} options")
    if len({option.casefold() for option in question.options}) < len(question.options):
        return _bad(place, "options: an option stands twice")
    if agnostic and question.domain.casefold() != "stem":
        return _bad(place, "left out: neither about a region nor natural science")
    gold = question.options[question.answer]
    wrong = [option for option in question.options if option != gold]
    item_id = f"{NAME}:{language}:{digest(question.question, *sorted(question.options))}"
    return Item(
        item_id=item_id,
        group=f"{NAME}:{digest(question.question)}",
        source=NAME,
        task=Task.QA_OPTIONS,
        question=question.question,
        gold=gold,
        options=show(item_id, gold, wrong, most=len(wrong)),
        wrong=tuple(wrong),
        country=normalise(question.country) if question.country and not agnostic else None,
        language=language,
        topic=question.subject,
        cultural=not agnostic,
    )


def _bad(place: str, reason: str) -> BadRecord:
    return BadRecord(source=NAME, place=place, reason=reason)


SOURCE = Source(
    name=NAME,
    title="INCLUDE: regional exam questions in 44 languages",
    licence="Apache-2.0",
    get_it="Dataset CohereLabs/include-base-44 on the Hugging Face hub (open it with an account): put its language "
    "folders of Parquet files under include/. EXAMS stands in for it meanwhile.",
    patterns=("**/*.parquet", "**/*.jsonl", "**/*.jsonl.gz", "**/*.csv"),
    read=read,
)
