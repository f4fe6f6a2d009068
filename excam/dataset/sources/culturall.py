"""CulturALL: hard questions set in everyday scenes of 51 regions; for evaluation only."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from excam.country import normalise
from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.records import Row, Words, read_rows
from excam.dataset.sources.source import Source

NAME = "culturall"
_OPTION = re.compile(r"(?:^|\s)\(?([A-D])[.)、:：．]\s*(.+?)(?=\s+\(?[A-D][.)、:：．]|\Z)", re.DOTALL)


class Sample(Row):
    """A scene, a question about it and its answer; where options are given, the answer is a letter."""

    language: Words
    region: Words
    topic: str | None = None
    scenario: Words
    question: Words
    answer: Words
    explanation: str | None = None


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """One item a sample; the published subsets by difficulty repeat the whole and are collapsed with it."""
    for path in paths:
        for row in read_rows(NAME, path, Sample):
            yield row if isinstance(row, BadRecord) else _item(*row)


def _item(place: str, sample: Sample) -> Item | BadRecord:
    country = normalise(sample.region)
    if country is None:
        return _bad(place, f"region: {sample.region!r} is not a country")
    stem, letters = _split(sample.question)
    lettered = re.fullmatch(r"[A-D]", sample.answer) is not None
    if lettered and (sample.answer not in letters or len(letters) < 2):
        return _bad(place, f"answer: {sample.answer!r} is a letter, but the question lists no such option")
    options = tuple(letters.values()) if lettered else ()
    gold = letters[sample.answer] if lettered else sample.answer
    return Item(
        item_id=f"{NAME}:{digest(sample.scenario, sample.question)}",
        group=f"{NAME}:{digest(sample.scenario)}",
        source=NAME,
        task=Task.QA_OPTIONS if options else Task.FREEFORM_QA,
        question=f"{sample.scenario}\n{stem if lettered else sample.question}",
        gold=gold,
        options=options,
        wrong=tuple(option for option in options if option != gold),
        country=country,
        language=sample.language.lower(),
        topic=sample.topic,
        explanation=(sample.explanation or "").strip() or None,
    )


def _split(question: str) -> tuple[str, dict[str, str]]:
    """A question and the options listed in it, by letter."""
    first = _OPTION.search(question)
    stem = question[: first.start()].strip() if first else question
    return stem, {letter: text.strip() for letter, text in _OPTION.findall(question)}


def _bad(place: str, reason: str) -> BadRecord:
    return BadRecord(source=NAME, place=place, reason=reason)


SOURCE = Source(
    name=NAME,
    title="CulturALL: grounded tasks in 14 languages and 51 regions",
    licence="released for research; see its paper",
    get_it="Folder CulturAll/data of the repository AIDC-AI/Marco-LLM: put annotated_data.xlsx under culturall/.",
    patterns=("**/annotated_data*.xlsx", "**/*.jsonl", "**/*.jsonl.gz", "**/*.csv", "**/*.parquet"),
    read=read,
    evaluation_only=True,
)
