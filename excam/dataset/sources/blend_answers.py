"""What the annotators of BLEnD answered: its records, the answers they agree on, and those that are no answer."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Annotated, Any

from pydantic import AliasChoices, BeforeValidator, Field

from excam.dataset.sources.blend_regions import Region
from excam.dataset.sources.records import Row, Words
from excam.dataset.sources.same_answer import meaning, plain

FEWEST_VOTES = 2
MOST_UNDECIDED = 2
LONGEST_ANSWER = 60
_NO_ANSWER = frozenset(
    plain(text)
    for text in (
        *("idk", "no answer", "no-answer", "not-applicable", "na", "n/a", "not sure", "i don't know", "don't know"),
        *("unknown", "other", "depends", "it depends", "varies", "none", "nothing", "nobody", "no one", "no", "yes"),
        *("cannot say", "can't say", "anything", "everything"),
    )
)


def _from_json(value: Any) -> Any:
    return json.loads(value) if isinstance(value, str) else value


class Vote(Row):
    """One answer of a region in its own words and in English, with how many annotators gave it."""

    answers: tuple[str, ...] = ()
    en_answers: tuple[str, ...] = ()
    count: int = Field(ge=0)


class Annotation(Row):
    """All answers of one region to one question."""

    qid: Words = Field(validation_alias=AliasChoices("qid", "ID", "key"))
    region: str | None = None
    topic: str | None = None
    question: Words
    en_question: Words
    votes: tuple[Vote, ...] = Field(validation_alias=AliasChoices("annotations", "aggregated_answers"))
    idks: dict[str, int | None] = Field(default_factory=dict)


class Choice(Row):
    """A published multiple-choice question."""

    qid: Words = Field(validation_alias=AliasChoices("qid", "ID"))
    region: Words = Field(validation_alias=AliasChoices("region", "country"))
    question: Words = Field(validation_alias=AliasChoices("question", "prompt"))
    choices: Annotated[dict[str, str | None], BeforeValidator(_from_json)]
    answer: Words = Field(validation_alias=AliasChoices("answer", "answer_idx"))


class Topic(Row):
    """A line of the published question lists, which alone carry the topic."""

    qid: Words = Field(validation_alias=AliasChoices("ID", "qid"))
    topic: Words = Field(validation_alias=AliasChoices("Topic", "topic"))


Told = list[tuple[list[str], int]]


@dataclass
class Asked:
    """One question in one region with what is known of its answers."""

    place: str
    region: Region
    annotation: Annotation | None = None
    choices: list[Choice] = field(default_factory=list)

    @property
    def votes(self) -> tuple[Vote, ...]:
        return self.annotation.votes if self.annotation else ()

    @cached_property
    def in_english(self) -> Told:
        """English answers with their votes, most voted first."""
        return _merged((vote.en_answers, vote.count) for vote in self.votes)

    @cached_property
    def in_local_language(self) -> Told:
        """The same in the annotators' own words."""
        return _merged((vote.answers, vote.count) for vote in self.votes)

    def told(self, language: str) -> Told:
        """The answers in one of the two languages the region was annotated in."""
        return self.in_english if language == "en" else self.in_local_language

    def said(self) -> list[str]:
        """Every name anyone of the region gave, in both languages, however few gave it."""
        return [name for vote in self.votes for name in (*vote.answers, *vote.en_answers) if name.strip()]

    def undecided(self, language: str) -> str | None:
        """Why the annotations name no right answer, or None when they do."""
        told = self.told(language)
        silent = sum(count or 0 for count in (self.annotation.idks if self.annotation else {}).values())
        if not told or told[0][1] < FEWEST_VOTES:
            return "left out: no answer was given twice"
        if silent > MOST_UNDECIDED:
            return "left out: too many annotators gave no answer"
        if len(told) > 1 and told[0][1] == told[1][1]:
            return "left out: a tie between the most voted answers"
        return None if usable(told[0][0][0], language) else "left out: the most voted answer is no answer"


def _merged(votes: Iterable[tuple[tuple[str, ...], int]]) -> Told:
    """Groups that share a name are one answer: annotators meant the same in different local words."""
    merged: Told = []
    for answers, count in votes:
        names = [name.strip().rstrip(".") for name in answers if name.strip()]
        keys = {plain(name) for name in names}
        for index, (known, votes_before) in enumerate(merged):
            if keys & {plain(name) for name in known}:
                merged[index] = (known + names, votes_before + count)
                break
        else:
            merged += [(names, count)] if names else []
    return sorted(merged, key=lambda answer: -answer[1])


@cache
def usable(answer: str, language: str) -> bool:
    """Whether a text is an answer that can be shown: short, in the script of its language, and not "I don't know"."""
    text = plain(answer)
    foreign = language == "en" and any(letter.isalpha() and letter > "\u024f" for letter in answer)
    return bool(text) and len(answer) <= LONGEST_ANSWER and text not in _NO_ANSWER and not foreign


def common_names(asked: Iterable[Asked], language: str) -> dict[frozenset[str], str]:
    """One way to write each answer to a question: the most voted of those that differ only in form (bus, buses)."""
    votes: dict[frozenset[str], dict[str, int]] = {}
    for region in asked:
        for names, count in region.told(language):
            spellings = votes.setdefault(meaning(names[0]).stems, {})
            spellings[names[0]] = spellings.get(names[0], 0) + count
    return {stems: min(found, key=lambda name: (-found[name], name)) for stems, found in votes.items()}
