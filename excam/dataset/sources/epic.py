"""EPIC: replies from social media that people of five English-speaking countries found ironic or not.

Every annotator is a role of their own: age, sex, ethnicity and nationality as they gave them, and the label they
chose is what that person would say. All annotations of one conversation stay in one group.
"""

from __future__ import annotations

import html
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field

from excam.country import normalise
from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.grouping import Groups, digest
from excam.dataset.sources.records import Row, Words, read_rows
from excam.dataset.sources.source import Source

NAME = "epic"
IRONIC, NOT_IRONIC = "The text is ironic.", "The text is non-ironic."
_LABELS = {
    **dict.fromkeys(("iro", "ironic", "1", "1.0", "true"), (IRONIC, NOT_IRONIC)),
    **dict.fromkeys(("not", "not ironic", "non-ironic", "0", "0.0", "false"), (NOT_IRONIC, IRONIC)),
}
_UNKNOWN = ("", "nan", "none", "data_expired", "consent_revoked", "prefer not to say")


def _known(value: Any) -> str | None:
    text = "" if value is None else str(value).strip()
    return None if text.casefold() in _UNKNOWN else text


Known = Annotated[str | None, BeforeValidator(_known)]
"""A field of an annotator's profile, None where the platform no longer knows it."""


class Annotation(Row):
    """One person's label of one reply, in the columns of EPIC, of MultiPICo or of a prepared file."""

    post: Words = Field(validation_alias=AliasChoices("post", "parent_text"))
    reply: Words = Field(validation_alias=AliasChoices("reply", "text"))
    label: Words
    annotator: Words = Field(validation_alias=AliasChoices("annotator", "user", "annotator_id"))
    language: Known = None
    age: Known = Field(default=None, validation_alias=AliasChoices("age", "Age"))
    sex: Known = Field(default=None, validation_alias=AliasChoices("gender", "Gender", "sex", "Sex"))
    ethnicity: Known = Field(default=None, validation_alias=AliasChoices("ethnicity", "Ethnicity simplified"))
    nationality: Known = Field(default=None, validation_alias=AliasChoices("nationality", "Nationality"))


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """One item an annotation; the wrong answer is the other label."""
    found: list[tuple[str, Annotation]] = []
    groups = Groups()
    for path in paths:
        for row in read_rows(NAME, path, Annotation):
            if isinstance(row, BadRecord):
                yield row
            elif row[1].language not in (None, "en", "English"):
                yield BadRecord(source=NAME, place=row[0], reason="left out: not in English")
            else:
                found.append(row)
                groups.join(*_texts(row[1]))
    for place, annotation in found:
        yield _item(place, annotation, groups.name(_texts(annotation)[0]))


def _texts(annotation: Annotation) -> tuple[str, str]:
    return f"post {digest(annotation.post)}", f"reply {digest(annotation.reply)}"


def _item(place: str, annotation: Annotation, group: str) -> Item | BadRecord:
    answers = _LABELS.get(annotation.label.casefold())
    if answers is None:
        return BadRecord(source=NAME, place=place, reason=f"label: {annotation.label!r} is neither ironic nor not")
    post, reply = html.unescape(annotation.post), html.unescape(annotation.reply)
    return Item(
        item_id=f"{NAME}:{digest(annotation.post, annotation.reply)}:{annotation.annotator}",
        group=f"{NAME}:{group}",
        source=NAME,
        task=Task.IMPERSONATION,
        question=f"Indicate whether this text is ironic or non-ironic: {reply}",
        gold=answers[0],
        wrong=answers[1:],
        country=normalise(annotation.nationality) if annotation.nationality else None,
        language="en",
        topic="irony",
        role=_profile(annotation),
        context=post,
    )


def _profile(annotation: Annotation) -> str:
    age = annotation.age.removesuffix(".0") if annotation.age else None
    fields = {"Age": age, "Sex": annotation.sex, "Ethn.": annotation.ethnicity, "Nat.": annotation.nationality}
    return "; ".join(f"{name}={value}" for name, value in {**fields, "Lang.": "English"}.items() if value) + "."


SOURCE = Source(
    name=NAME,
    title="EPIC: irony as people of five English-speaking countries see it",
    licence="CC BY-NC-SA 4.0",
    get_it="Dataset Multilingual-Perspectivist-NLU/EPIC on the Hugging Face hub (or MultiPICo, of which the English "
    "part is read): put its CSV or Parquet file under epic/.",
    patterns=("**/*.jsonl.gz", "**/*.csv", "**/*.parquet"),
    read=read,
)
