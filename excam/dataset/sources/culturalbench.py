"""CulturalBench: multiple choice verified by five people of the country, with a true or false for every option.

The multiple-choice file names one right answer, but several options can be true: only an option that the
true/false file calls false is wrong, and other true ones are neither shown nor counted as errors.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, AliasChoices, Field, model_validator

from excam.country import normalise
from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.ordering import show
from excam.dataset.sources.records import Row, Words, read_rows
from excam.dataset.sources.same_answer import plain
from excam.dataset.sources.source import Source

NAME = "culturalbench"
_JUDGEMENT = re.compile(r".*?Question:\s*(?P<question>.*)\sAnswer:\s*(?P<option>.*)\Z", re.DOTALL)
_ABOUT_OPTIONS = re.compile(
    r"\b(all|none|neither|both|any) (of|are|the)\b.*\b(above|these|options|answers)\b|^\(?i+\)|^none$", re.I
)


Option = Annotated[Words, AfterValidator(lambda text: text.rstrip(". ") or text)]
"""An option without its full stop, which stands after the fourth option more often than after the right one."""


class Judgement(Row):
    """One option of a question and whether it is true, as published (Hard) or as one sentence to answer."""

    number: str = Field(default="", validation_alias=AliasChoices("id", "data_idx"))
    question_id: Words = Field(validation_alias=AliasChoices("question_id", "question_idx"))
    question: Words = Field(validation_alias=AliasChoices("question", "prompt_question"))
    option: Option = Field(validation_alias=AliasChoices("option", "prompt_option"))
    true: bool = Field(validation_alias=AliasChoices("output", "answer"))
    country: Words

    @model_validator(mode="before")
    @classmethod
    def _split_sentence(cls, fields: Any) -> Any:
        found = _JUDGEMENT.match(str(fields["input"])) if isinstance(fields, dict) and "input" in fields else None
        return {**fields, **found.groupdict()} if found else fields


class Choice(Row):
    """The multiple-choice form (Easy), used only to learn which true option the authors meant."""

    question_id: Words = Field(validation_alias=AliasChoices("question_idx", "id"))
    answer: Words
    choices: dict[str, str | None]

    @model_validator(mode="before")
    @classmethod
    def _gather_options(cls, fields: Any) -> Any:
        if isinstance(fields, dict) and "choices" not in fields:
            letters = [key[-1] for key in fields if key.startswith("prompt_option_")]
            return {**fields, "choices": {letter.upper(): fields[f"prompt_option_{letter}"] for letter in letters}}
        return fields


@dataclass
class _Question:
    place: str
    judgements: list[Judgement] = field(default_factory=list)
    meant: str | None = None


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """One item a question: the true option its authors chose against the false ones."""
    questions: dict[str, _Question] = {}
    easy = [path for path in paths if re.search(r"easy|mcq", path.name, re.I)]
    for path in (path for path in paths if path not in easy):
        for row in read_rows(NAME, path, Judgement):
            if isinstance(row, BadRecord):
                yield row
            else:
                questions.setdefault(row[1].question_id, _Question(row[0])).judgements.append(row[1])
    for path in easy:
        for choice in read_rows(NAME, path, Choice):
            if isinstance(choice, BadRecord):
                yield choice
            elif choice[1].question_id not in questions:
                yield _bad(choice[0], "id: no true/false record says which of its options are wrong")
            else:
                questions[choice[1].question_id].meant = choice[1].choices.get(choice[1].answer)
    for question_id, question in questions.items():
        yield _item(question_id, question)


def _bad(place: str, reason: str) -> BadRecord:
    return BadRecord(source=NAME, place=place, reason=reason)


def _item(question_id: str, question: _Question) -> Item | BadRecord:
    judgements = sorted(question.judgements, key=lambda found: (len(found.number), found.number))
    first = judgements[0]
    alone = [found for found in judgements if not _ABOUT_OPTIONS.search(found.option)]
    right = [found.option for found in alone if found.true]
    truths = {plain(option) for option in right}
    wrong = {
        plain(found.option): found.option for found in alone if not found.true and plain(found.option) not in truths
    }
    country = normalise(first.country)
    if country is None:
        return _bad(question.place, f"country: {first.country!r} is not a country")
    if not right or not wrong:
        return _bad(question.place, "left out: no true and false option that stand by themselves")
    meant = [option for option in right if question.meant and plain(option) == plain(question.meant)]
    gold = (meant or right)[0]
    item_id = f"{NAME}:{question_id}"
    return Item(
        item_id=item_id,
        group=item_id,
        source=NAME,
        task=Task.QA_OPTIONS,
        question=first.question,
        gold=gold,
        options=show(item_id, gold, list(wrong.values())),
        wrong=tuple(wrong.values()),
        country=country,
        language="en",
    )


SOURCE = Source(
    name=NAME,
    title="CulturalBench: cultural knowledge of 45 regions",
    licence="CC BY 4.0",
    get_it="Dataset kellycyy/CulturalBench on the Hugging Face hub: put CulturalBench-Hard.csv (needed) and "
    "CulturalBench-Easy.csv under culturalbench/.",
    patterns=("**/*.jsonl.gz", "**/*.csv", "**/*.parquet"),
    read=read,
)
