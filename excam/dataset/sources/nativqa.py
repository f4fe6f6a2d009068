"""MultiNativQA: questions people of nine places put to a search engine in their language, with checked answers."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from excam.country import normalise
from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.places import language_code
from excam.dataset.sources.records import Row, Words, read_rows
from excam.dataset.sources.source import Source

NAME = "nativqa"
_FILE = re.compile(r"NativQA_(?P<language>[a-z]{2,3})_[^_]*_(?P<country>[a-z]{2})_", re.I)
_FOLDER = re.compile(r"(?P<language>[a-z]+)_(?P<country>[a-z]{2})", re.I)


class Answered(Row):
    """A question with the answer found for it and how far its source can be trusted."""

    data_id: Words
    category: str | None = None
    question: Words
    answer: Words
    reliable: str = Field(default="", validation_alias="is_reliable")

    @field_validator("reliable", mode="before")
    @classmethod
    def _text(cls, value: Any) -> str:
        return "" if value is None else str(value)


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """One item a question; language and country stand in the name of the file or of its folder."""
    for path in paths:
        home = _home(path)
        if home is None:
            place = f"{path.parent.name}/{path.name}"
            yield _bad(place, "file: neither its name nor its folder says language and country (arabic_qa)")
            continue
        language, country = home
        for row in read_rows(NAME, path, Answered):
            yield row if isinstance(row, BadRecord) else _item(*row, language=language, country=country)


def _home(path: Path) -> tuple[str, str] | None:
    folders = (_FOLDER.fullmatch(folder.name) for folder in list(path.parents)[:2])
    found = _FILE.match(path.name) or next((match for match in folders if match), None)
    if found is None:
        return None
    language = found["language"].lower() if len(found["language"]) == 2 else language_code(found["language"])
    country = normalise(found["country"])
    return (language, country) if language and country else None


def _item(place: str, asked: Answered, *, language: str, country: str) -> Item | BadRecord:
    doubt = asked.reliable.casefold()
    if "unreliable" in doubt or "not" in doubt or doubt == "false":
        return _bad(place, "left out: its annotators did not trust the source of the answer")
    return Item(
        item_id=f"{NAME}:{language}_{country}:{asked.data_id}",
        group=f"{NAME}:{digest(' '.join(asked.question.casefold().split()))}",
        source=NAME,
        task=Task.FREEFORM_QA,
        question=asked.question,
        gold=asked.answer,
        country=country,
        language=language,
        topic=asked.category,
    )


def _bad(place: str, reason: str) -> BadRecord:
    return BadRecord(source=NAME, place=place, reason=reason)


SOURCE = Source(
    name=NAME,
    title="MultiNativQA: native questions of nine places in seven languages",
    licence="CC BY-NC-SA 4.0",
    get_it="Dataset QCRI/MultiNativQA on the Hugging Face hub: put its folders (arabic_qa, bangla_bd and so on) under "
    "nativqa/.",
    patterns=("**/*.json", "**/*.jsonl", "**/*.jsonl.gz", "**/*.parquet"),
    read=read,
)
