"""EXAMS: school exams in sixteen languages, the declared stand-in for INCLUDE.

History, geography, religion and the like count as cultural knowledge, natural science as ordinary traffic, and
what is neither (business, psychology, a trade) is left out. What EXAMS calls geology is geography in every language
that has it. The country is that of the school system, which is not always the one the language suggests: pupils in
Croatia sit the same exam in Serbian or Italian, in North Macedonia in Albanian or Turkish, in Hungary in German,
French or Spanish.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator, model_validator

from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.exam_papers import Sheet, twins
from excam.dataset.sources.grouping import Groups, digest
from excam.dataset.sources.ordering import show
from excam.dataset.sources.places import language_code
from excam.dataset.sources.records import Row, Words, read_rows
from excam.dataset.sources.source import Source

NAME = "exams"
CULTURAL = frozenset(
    {"history", "geography", "geology", "religion", "islamic studies", "politics", "sociology", "social"}
    | {"citizenship", "fine arts", "literature", "culture", "tourism"}
)
ORDINARY = frozenset({"physics", "chemistry", "biology", "science", "mathematics", "math", "informatics"})
_SCHOOLS = {
    "Albanian": "MK",
    "Bulgarian": "BG",
    "French": "HU",
    "German": "HU",
    "Hungarian": "HU",
    "Lithuanian": "LT",
    "North Macedonian": "MK",
    "Polish": "PL",
    "Portuguese": "PT",
    "Spanish": "HU",
    "Vietnamese": "VN",
}
_SYSTEMS = {
    **dict.fromkeys(("Croatian", "Serbian", "Italian"), "HR"),
    **dict.fromkeys(("North Macedonian", "Albanian", "Turkish"), "MK"),
    **dict.fromkeys(("Hungarian", "German", "French", "Spanish"), "HU"),
}
"""Languages in which one exam is set side by side; Hungary sets geography in those of its neighbours too."""


class Option(Row):
    """One answer of an exam question under its letter."""

    text: str
    label: Words


class Stem(Row):
    """The question itself with its answers."""

    stem: Words
    choices: list[Option] = Field(min_length=2)

    @field_validator("choices", mode="before")
    @classmethod
    def _columns(cls, value: Any) -> Any:
        """The hub keeps the options as columns: one list of texts, one of letters."""
        if isinstance(value, dict) and isinstance(value.get("text"), list) and isinstance(value.get("label"), list):
            pairs = zip(value["text"], value["label"], strict=False)
            return [{"text": text, "label": label} for text, label in pairs]
        return value


class Info(Row):
    """What the exam was and in which language."""

    subject: Words
    language: Words


class Exam(Row):
    """A question as EXAMS publishes it, in the form of the ARC dataset."""

    exam_id: Words = Field(validation_alias="id")
    question: Stem
    answer: Words = Field(validation_alias="answerKey")
    info: Info


class Parallel(Row):
    """A line of the published list of translations: the hub names its columns, the repository maps id to ids."""

    exam_id: Words = Field(validation_alias="source_id")
    others: list[str] = Field(validation_alias="target_id_list")

    @model_validator(mode="before")
    @classmethod
    def _mapping(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and len(fields) == 1:
            ((exam_id, others),) = fields.items()
            return {"source_id": exam_id, "target_id_list": others}
        return fields


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """Cultural and ordinary questions with one right option."""
    found: dict[str, tuple[str, Exam]] = {}
    groups = Groups()
    lists = [path for path in paths if re.search(r"parallel|alignment", f"{path.parent.name}/{path.name}", re.I)]
    for path in (path for path in paths if path not in lists):
        for row in read_rows(NAME, path, Exam):
            if isinstance(row, BadRecord):
                yield row
            elif found.setdefault(row[1].exam_id, row)[1] != row[1]:
                yield _bad(row[0], "id: stands twice, with another question")
    for path in lists:
        for link in read_rows(NAME, path, Parallel):
            if isinstance(link, BadRecord):
                yield link
            else:
                groups.join(link[1].exam_id, *link[1].others)
    if not lists:
        _join_translations([exam for _, exam in found.values()], groups)
    for exam_id, (place, exam) in found.items():
        yield _item(place, exam, groups.name(exam_id))


def _system(exam: Exam) -> str | None:
    system = _SYSTEMS.get(exam.info.language)
    return "HU" if system == "HR" and exam.info.subject == "Geography" else system


def _join_translations(exams: list[Exam], groups: Groups) -> None:
    """Without the published list, keep together what may be one question in two languages.

    Papers that run side by side are joined question by question. Beyond them, questions of one school system and
    subject with the same options and the same figures are joined; in Hungary's papers, few and read in another
    order, even those without figures.
    """
    sheets: list[Sheet] = []
    for exam in exams:
        system = _system(exam)
        if system is not None:
            texts = (exam.question.stem, *(option.text for option in exam.question.choices))
            sheets.append(Sheet.of(exam.exam_id, system, exam.info.subject, exam.info.language, texts))
    for one, other in twins(sheets):
        groups.join(one, other)
    for sheet in sheets:
        if sheet.figures or sheet.system == "HU":
            frame = digest(sheet.system, sheet.subject, str(sheet.options), *sheet.figures)
            groups.join(sheet.exam_id, f"~{frame}")


def _school(exam: Exam) -> str | None:
    """Turkish exams with five options are set in Turkey; Serbian ones in Croatia or in Serbia, nobody says which."""
    if exam.info.language == "Turkish":
        return "TR" if len(exam.question.choices) == 5 else "MK"
    if exam.info.language in ("Croatian", "Italian"):
        return _system(exam)
    return _SCHOOLS.get(exam.info.language)


def _item(place: str, exam: Exam, group: str) -> Item | BadRecord:
    subject = exam.info.subject.casefold()
    language = language_code(exam.info.language)
    letters = {option.label: " ".join(option.text.split()).rstrip(" .;,") for option in exam.question.choices}
    gold = letters.get(exam.answer)
    if language is None:
        return _bad(place, f"info.language: {exam.info.language!r} is not a language we know")
    if subject not in CULTURAL | ORDINARY:
        return _bad(place, "left out: a subject that is neither cultural nor natural science")
    if gold is None:
        return _bad(place, f"answerKey: {exam.answer!r} is not the letter of an option")
    if not all(letters.values()) or len({text.casefold() for text in letters.values()}) < len(exam.question.choices):
        return _bad(place, "question.choices: an option is empty or stands twice")
    if _torn(list(letters.values())):
        return _bad(place, "question.choices: an option is a lone sign, torn from its text")
    cultural, item_id = subject in CULTURAL, f"{NAME}:{exam.exam_id}"
    wrong = [text for letter, text in letters.items() if letter != exam.answer]
    return Item(
        item_id=item_id,
        group=f"{NAME}:{group}",
        source=NAME,
        task=Task.QA_OPTIONS,
        question=" ".join(exam.question.stem.split()),
        gold=gold,
        options=show(item_id, gold, wrong, most=len(wrong)),
        wrong=tuple(wrong),
        country=_school(exam) if cultural else None,
        language=language,
        topic=exam.info.subject,
        cultural=cultural,
    )


def _torn(options: list[str]) -> bool:
    """Whether reading the printed exam left a scrap of an option: a lone letter, or a lone figure among words."""
    lone = [option for option in options if len(option) == 1]
    return any(not option.isdigit() for option in lone) or (bool(lone) and max(map(len, options)) > 3)


def _bad(place: str, reason: str) -> BadRecord:
    return BadRecord(source=NAME, place=place, reason=reason)


SOURCE = Source(
    name=NAME,
    title="EXAMS: school exams in 16 languages (stands in for INCLUDE)",
    licence="CC BY-SA 4.0",
    get_it="Dataset mhardalov/exams on the Hugging Face hub (multilingual), or data/exams of the authors' repository "
    "mhardalov/exams-qa with its list of parallel questions: put the files under exams/.",
    patterns=("**/*.jsonl.gz", "**/*.jsonl", "**/*.parquet"),
    read=read,
)
