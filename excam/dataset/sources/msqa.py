"""MSQA: short questions from native sources in eleven languages, each with one verifiable answer; evaluation only."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from pydantic import AliasChoices, Field

from excam.country import normalise
from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.records import Row, Words, read_rows
from excam.dataset.sources.source import Source

NAME = "msqa"


class Question(Row):
    """A question in its own language; the paper's schema calls id and question otherwise than the release does."""

    question_id: Words = Field(validation_alias=AliasChoices("id", "prompt_id"))
    language: Words
    circle: str | None = Field(default=None, validation_alias=AliasChoices("culture_circle", "circle"))
    category: str | None = None
    question: Words = Field(validation_alias=AliasChoices("question", "prompt"))
    answer: Words


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """One item a question; the country is known only where the cultural sphere is a country's."""
    for path in paths:
        for row in read_rows(NAME, path, Question):
            if isinstance(row, BadRecord):
                yield row
                continue
            asked = row[1]
            yield Item(
                item_id=f"{NAME}:{asked.question_id}",
                group=f"{NAME}:{digest(asked.question)}",
                source=NAME,
                task=Task.FREEFORM_QA,
                question=asked.question,
                gold=asked.answer,
                country=normalise(asked.circle) if asked.circle else None,
                language=asked.language.partition("-")[0].lower(),
                topic=asked.category,
            )


SOURCE = Source(
    name=NAME,
    title="MSQA: natively sourced cultural questions in 11 languages",
    licence="CC BY 4.0",
    get_it="Dataset m-a-p/MSQA on the Hugging Face hub: put msqa.jsonl under msqa/.",
    patterns=("**/*.jsonl", "**/*.jsonl.gz", "**/*.csv", "**/*.parquet"),
    read=read,
    evaluation_only=True,
)
