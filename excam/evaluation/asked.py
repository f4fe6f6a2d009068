"""Questions of a benchmark to put to a chatbot, and the answers it gave, read back from a file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict, Field, field_validator

from excam.dataset.item import BadRecord, Item
from excam.dataset.sources import SOURCES
from excam.dataset.sources.calmqa import Question as LongQuestion
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.places import language_code
from excam.dataset.sources.records import Row as FileRow
from excam.dataset.sources.records import read_rows
from excam.fault import UserError

BENCHMARKS = ("msqa", "culturall", "calmqa")
COLUMNS = ("question_id", "question", "language", "country", "topic", "cultural")


class Asked(BaseModel):
    """One question with its truth, where it has one; ``question_id`` is what an answer refers to."""

    model_config = ConfigDict(frozen=True)

    question_id: str
    question: str
    gold: str = ""
    language: str
    country: str | None = None
    topic: str | None = None
    cultural: bool = True


class Answer(FileRow):
    """What a chatbot said; ``grade``, ``factual`` and ``relevant`` may already be filled in by a person or an LLM."""

    question_id: str
    answer: str
    grade: str | None = None
    factual: float | None = Field(default=None, ge=0, le=1)
    relevant: float | None = Field(default=None, ge=0, le=1)

    @field_validator("grade", "factual", "relevant", mode="before")
    @classmethod
    def _empty_is_none(cls, value: object) -> object:
        """In a table an empty cell is one that nobody filled in."""
        return None if value == "" else value


def questions(benchmark: str, root: Path) -> list[Asked]:
    """The questions of a benchmark whose files lie under ``root``, each once."""
    return list({one.question_id: one for one in _records(benchmark, root) if isinstance(one, Asked)}.values())


def unreadable(benchmark: str, root: Path) -> list[BadRecord]:
    """The records there that are no questions, each with what is wrong with it."""
    return [one for one in _records(benchmark, root) if isinstance(one, BadRecord)]


def _records(benchmark: str, root: Path) -> Iterator[Asked | BadRecord]:
    source = SOURCES[benchmark]
    if not source.find(root):
        raise UserError(f"{source.title} is not in {root / benchmark}", source.get_it)
    if benchmark == "calmqa":
        yield from _long(source.find(root))
    else:
        yield from (_short(one) if isinstance(one, Item) else one for one in source.load(root))


def _long(paths: Iterable[Path]) -> Iterator[Asked | BadRecord]:
    """CaLMQA's own records: a question needs no answer on record to be asked."""
    for path in paths:
        for row in read_rows("calmqa", path, LongQuestion):
            if isinstance(row, BadRecord):
                yield row
                continue
            place, one = row
            language = language_code(one.language)
            if language is None:
                yield BadRecord(source="calmqa", place=place, reason=f"language: {one.language!r} is not known")
                continue
            yield Asked(
                question_id=f"calmqa:{one.name or digest(one.question)}:{language}",
                question=one.question,
                language=language,
                topic=one.category,
                cultural=not one.agnostic,
            )


def _short(item: Item) -> Asked:
    letters = [f"{chr(ord('A') + place)}. {option}" for place, option in enumerate(item.options)]
    return Asked(
        question_id=item.item_id,
        question="\n".join([item.question, *letters]),
        gold=item.gold,
        language=item.language,
        country=item.country,
        topic=item.topic,
    )


def write_questions(asked: Iterable[Asked], path: Path) -> int:
    """The questions without their answers as Parquet, for a chatbot to answer; how many there are."""
    rows: list[dict[str, Any]] = [one.model_dump(include=set(COLUMNS)) for one in asked]
    types = [(name, pa.bool_() if name == "cultural" else pa.string()) for name in COLUMNS]
    pq.write_table(pa.Table.from_pylist(rows, schema=pa.schema(types)), path, compression="zstd")
    return len(rows)


def read_answers(path: Path, asked: Iterable[Asked]) -> list[tuple[Asked, Answer]]:
    """Answers with their questions, in any format the sources come in; one that cannot be used is a user's mistake."""
    if not path.is_file():
        raise UserError(f"there is no {path}", "give a Parquet or JSON lines file with question_id and answer")
    known = {one.question_id: one for one in asked}
    found: dict[str, tuple[Asked, Answer]] = {}
    for row in read_rows("answers", path, Answer):
        if isinstance(row, BadRecord):
            raise UserError(f"{row.place}: {row.reason}", "each record needs question_id and answer")
        place, answer = row
        if answer.question_id not in known:
            fix = "take the ids from `excam evaluate questions`, made from the same files"
            raise UserError(f"{place}: there is no question {answer.question_id!r}", fix)
        if answer.question_id in found:
            raise UserError(f"{place}: a second answer to {answer.question_id}", "give one answer to each question")
        found[answer.question_id] = known[answer.question_id], answer
    if not found:
        raise UserError(f"{path} holds no answer", "give a Parquet or JSON lines file with question_id and answer")
    return list(found.values())
