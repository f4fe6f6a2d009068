"""Mango: statements about a concept in a culture, verified by people; the task is to write about that topic."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from excam.country import normalise
from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.records import Row, Words, read_rows
from excam.dataset.sources.same_answer import plain
from excam.dataset.sources.source import Source

NAME = "mango"
_SAYS_CULTURE = re.compile(
    r"\b(cultures?|countries|societ(?:y|ies)|people|communit(?:y|ies)|traditions?|regions?)\b", re.I
)


class Assertion(Row):
    """A statement that stands for a cluster of similar ones."""

    id: Words
    concept: Words
    culture: Words
    assertion: Words


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """One text to write for each statement; statements on one topic stay together."""
    for path in paths:
        for row in read_rows(NAME, path, Assertion):
            if isinstance(row, BadRecord):
                yield row
                continue
            assertion = row[1]
            bare = _SAYS_CULTURE.sub("", assertion.culture).strip()
            culture = assertion.culture if _SAYS_CULTURE.search(assertion.culture) else f"{assertion.culture} culture"
            yield Item(
                item_id=f"{NAME}:{assertion.id}",
                group=f"{NAME}:{digest(plain(assertion.concept), plain(bare))}",
                source=NAME,
                task=Task.TEXT_GENERATION,
                question=f"{assertion.concept} in {culture}",
                gold=assertion.assertion,
                country=normalise(bare) if bare else None,
                language="en",
                topic=assertion.concept,
            )


SOURCE = Source(
    name=NAME,
    title="Mango: cultural commonsense assertions",
    licence="CC BY 4.0",
    get_it="File mango_dataset_v1.jsonl.zip of the paper Cultural Commonsense Knowledge for Intercultural Dialogues "
    "(repository cultural-csk/mango): put it, packed or unpacked, under mango/.",
    patterns=("**/*.jsonl", "**/*.jsonl.zip", "**/*.jsonl.gz"),
    read=read,
)
