"""The aligned form of every source: one verified fact, answer or opinion with what would be wrong instead."""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class Task(StrEnum):
    """The paper's four task types, and ordinary assistant work, which is not about culture at all."""

    QA_OPTIONS = "qa_options"
    FREEFORM_QA = "freeform_qa"
    TEXT_GENERATION = "text_generation"
    IMPERSONATION = "impersonation"
    ASSISTANT = "assistant"


class Item(BaseModel):
    """One record of a source, verified by people and so correct; samples are made from it by templates.

    ``options`` are all answers shown with the question (empty where the source shows none), ``gold`` the right
    one, ``wrong`` those known to be wrong. ``group`` names what must not be split between train and test: records
    of one question, story or post share it. ``cultural`` is False for records that teach what ordinary traffic is.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    item_id: str = Field(min_length=1, description="source:stable id of the record")
    group: str = Field(min_length=1)
    source: str
    task: Task
    question: str = Field(min_length=1, description="question, topic, story with its question, or text to classify")
    gold: str = Field(min_length=1)
    options: tuple[str, ...] = ()
    wrong: tuple[str, ...] = ()
    country: str | None = Field(default=None, description="ISO 3166-1 alpha-2")
    language: str = Field(description="ISO 639-1 of question and answer")
    topic: str | None = None
    role: str | None = Field(default=None, description="whom the model plays: a country's typical person, a profile")
    context: str | None = Field(default=None, description="what the role is told besides the question")
    explanation: str | None = Field(default=None, description="why the gold answer is right, where the source says it")
    cultural: bool = True


class BadRecord(BaseModel):
    """A record that could not be read: where it stands and what is wrong with it, counted in the data card."""

    model_config = ConfigDict(frozen=True)

    source: str
    place: str = Field(description="file and line, or record id")
    reason: str
