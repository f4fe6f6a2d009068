"""CaLMQA: long answers to questions people ask about their own culture, and questions that concern no culture.

Culture-specific questions count with the answers people gave, never with those of language models. Questions that
concern no culture count with everyone's answers: they teach what ordinary traffic looks like, not what is true.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import py3langid
from pydantic import AliasChoices, Field, model_validator

from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.places import language_code
from excam.dataset.sources.records import Row, Words, read_rows
from excam.dataset.sources.source import Source

NAME = "calmqa"
SHORTEST_ANSWER_BYTES = 60
_HOMES = {
    "Chinese": "CN",
    "Faroese": "FO",
    "Fijian": "FJ",
    "German": "DE",
    "Hebrew": "IL",
    "Hiligaynon": "PH",
    "Hindi": "IN",
    "Hungarian": "HU",
    "Japanese": "JP",
    "Kirundi": "BI",
    "Korean": "KR",
    "Russian": "RU",
    "Samoan": "WS",
    "Tongan": "TO",
    "Tswana": "BW",
    "Wolof": "SN",
}
"""Country of the forum or of the people asked; Arabic, English, Spanish and the like have no one country."""


class Answer(Row):
    """A text and who wrote it: a person or a model."""

    by: str
    text: str


class Question(Row):
    """A question with its answers, in the published table, in the authors' repository or in a prepared file."""

    name: str | None = None
    agnostic: bool = False
    language: Words
    category: str | None = None
    question: Words
    in_english: str | None = Field(default=None, validation_alias=AliasChoices("question_en", "question_english"))
    answers: list[Answer] = Field(default_factory=list)

    @model_validator(mode="before")
    @classmethod
    def _align(cls, fields: Any) -> Any:
        if not isinstance(fields, dict):
            return fields
        if isinstance(fields.get("question"), dict):
            return _from_repository(fields)
        fields = dict(fields)
        text = fields.get("human_answer", fields.get("answer"))
        if "answers" not in fields and text:
            fields["answers"] = [{"by": "human", "text": text}]
        kind = str(fields.get("culture", fields.get("question_type", "specific")))
        return {**fields, "agnostic": "agnostic" in kind}


def _from_repository(fields: dict[str, Any]) -> dict[str, Any]:
    """The repository keeps every translation; the language of a file is the language its answers are in."""
    asked = fields["question"]
    answers = [answer for answer in fields.get("answers", ()) if isinstance(answer, dict)]
    language = next((answer["language"] for answer in answers if "language" in answer), asked.get("language"))
    texts = {key: found.get("text") for key, found in asked.get("translations", {}).items()}
    return {
        **{key: asked.get(key) for key in ("name", "category")},
        "agnostic": str(asked.get("name", "")).startswith("non_cultural"),
        "language": language,
        "question": texts.get(language),
        "question_en": texts.get("English"),
        "answers": [
            {"by": str(answer.get("name", "")).rpartition(":")[2], "text": answer["translations"][language]["text"]}
            for answer in answers
            if language in answer.get("translations", {})
        ],
    }


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """Items about a culture from people's answers, items about none from anyone's."""
    for path in paths:
        for row in read_rows(NAME, path, Question):
            if isinstance(row, BadRecord):
                yield row
                continue
            place, question = row
            language = language_code(question.language)
            if language is None:
                yield _bad(place, f"language: {question.language!r} is not a language we know")
            elif question.agnostic:
                yield from _ordinary(place, question, language)
            else:
                yield _about_culture(place, question, language)


def _bad(place: str, reason: str) -> BadRecord:
    return BadRecord(source=NAME, place=place, reason=reason)


def _about_culture(place: str, question: Question, language: str) -> Item | BadRecord:
    text = next((answer.text.strip() for answer in question.answers if answer.by == "human"), "")
    if not text:
        return _bad(place, "left out: no answer by a person")
    if len(text.encode("utf-8", "replace")) < SHORTEST_ANSWER_BYTES:
        return _bad(place, "left out: too short for a long-form answer")
    return _item(question, language, text, "human", cultural=True)


def _ordinary(place: str, question: Question, language: str) -> Iterator[Item | BadRecord]:
    """Some records hold answers to a translation of the question: only those that answer in its language are used."""
    texts = {answer.by: answer.text.strip() for answer in question.answers if "dot points" not in answer.by}
    inside = {by: text for by, text in texts.items() if text and py3langid.classify(text[:400])[0] == language}
    if not texts:
        yield _bad(place, "left out: a question without an answer")
        return
    if len(inside) * 4 < len(texts) * 3:
        yield _bad(place, "left out: the answers are not in the language of the question")
        return
    for by in sorted(inside):
        yield _item(question, language, inside[by], by, cultural=False)


def _item(question: Question, language: str, text: str, by: str, *, cultural: bool) -> Item:
    name = question.name or digest(question.question)
    origin = question.in_english or question.question
    return Item(
        item_id=f"{NAME}:{name}:{language}:{digest(by, text)}",
        group=f"{NAME}:{digest(origin.strip())}",
        source=NAME,
        task=Task.FREEFORM_QA,
        question=question.question,
        gold=text,
        country=_HOMES.get(question.language) if cultural else None,
        language=language,
        topic=question.category,
        cultural=cultural,
    )


SOURCE = Source(
    name=NAME,
    title="CaLMQA: culturally specific long-form questions in 23 languages",
    licence="MIT",
    get_it="Dataset shanearora/CaLMQA on the Hugging Face hub, or the data/datasets folder of the authors' repository "
    "2015aroras/CaLMQA: put the files under calmqa/.",
    patterns=("**/*.jsonl.gz", "**/*.parquet", "**/dataset-*.json"),
    read=read,
)
