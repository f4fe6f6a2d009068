"""One BLEnD question in all its regions: what is right in one of them and wrong there because another said it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator

from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.blend_answers import FEWEST_VOTES, Asked, common_names, usable
from excam.dataset.sources.same_answer import COMMON, Given, Synonyms, meaning, plain

NAME = "blend"
_INSTRUCTION = re.compile(r"\s*Without any explanation, choose only one.*\Z", re.DOTALL)
_ONE_ANSWER = re.compile(
    r"\bmost\b|\bhow (?:many|long|much)\b|\bwhen\b|\bwhat (?:time|age|month|day)\b|HH:MM|Arabic", re.I
)
COMMONPLACE = 0.34
"""An answer given in more than this share of the regions is likely true here too, unless only one answer can be."""

Regions = dict[str, Asked]


class Question:
    """One question in all its regions: each region's answer is measured against what all the others said."""

    def __init__(self, qid: str, regions: Regions, synonyms: Synonyms, topic: str | None) -> None:
        self.qid, self.synonyms, self.topic = qid, synonyms, topic
        self.regions = [regions[name] for name in sorted(regions)]
        asks = next((asked.annotation.en_question for asked in self.regions if asked.annotation), "")
        self.one_answer = bool(_ONE_ANSWER.search(asks))
        languages = {"en"} | {asked.region.language for asked in self.regions}
        self.everywhere = Counter(stems for asked in self.regions for stems in {meaning(n).stems for n in asked.said()})
        self.names = {
            language: common_names((a for a in self.regions if language in ("en", a.region.language)), language)
            for language in sorted(languages)
        }

    def items(self) -> Iterator[Item | BadRecord]:
        """One item a region in English, and one in its own language where another region speaks that too."""
        for asked in self.regions:
            given = Given(asked.said(), self.synonyms)
            yield from self._english(asked, given)
            if asked.region.language != "en" and not asked.undecided(asked.region.language):
                gold = self._name(asked.told(asked.region.language)[0][0][0], asked.region.language)
                wrong = self._wrong(asked.region.language, gold, self._elsewhere(asked, asked.region.language), given)
                if wrong:
                    yield self._item(asked, asked.region.language, gold, wrong)

    def right_and_wrong(self, asked: Asked) -> Iterator[tuple[str, list[str]]]:
        """Each English answer of a region with what other countries say and this region does not."""
        foreign = self._foreign("en", self._elsewhere(asked, "en"), Given(asked.said(), self.synonyms))
        for names, _ in asked.in_english:
            if usable(names[0], "en"):
                yield names[0], _against(names[0], foreign)

    def _english(self, asked: Asked, given: Given) -> Iterator[Item | BadRecord]:
        published = _published(asked, given)
        why = asked.undecided("en")
        if why and not published:
            yield left_out(asked.place, why)
            return
        if why:
            found = {
                gold: self._wrong("en", gold, ([name] for name in names), given) for gold, names in published.items()
            }
        else:
            gold = self._name(asked.in_english[0][0][0], "en")
            others = ([name] for names in published.values() for name in names)
            found = {gold: self._wrong("en", gold, (*self._elsewhere(asked, "en"), *others), given)}
        for gold, wrong in found.items():
            yield (
                self._item(asked, "en", gold, wrong, tail=f":{plain(gold)}" if why else "")
                if wrong
                else left_out(asked.place, "left out: no other country's answer is wrong here")
            )

    def _name(self, answer: str, language: str) -> str:
        return self.names[language].get(meaning(answer).stems, answer)

    def _elsewhere(self, asked: Asked, language: str) -> Iterator[list[str]]:
        for other in self.regions:
            if other.region.country != asked.region.country and language in ("en", other.region.language):
                yield from (names for names, count in other.told(language) if count >= FEWEST_VOTES)

    def _wrong(self, language: str, gold: str, candidates: Iterable[list[str]], given: Given) -> list[str]:
        return _against(gold, self._foreign(language, candidates, given))

    def _foreign(self, language: str, candidates: Iterable[list[str]], given: Given) -> list[tuple[str, ...]]:
        """The candidates that nobody here gave under any of their names and that are no commonplace."""
        return [
            names
            for names in dict.fromkeys((self._name(told[0], language), *told) for told in candidates)
            if usable(names[0], language)
            and not self._commonplace(names[0])
            and not any(given.covers(other) for other in names)
        ]

    def _commonplace(self, name: str) -> bool:
        return not self.one_answer and self.everywhere[meaning(name).stems] > max(2, COMMONPLACE * len(self.regions))

    def _item(self, asked: Asked, language: str, gold: str, wrong: list[str], tail: str = "") -> Item:
        return Item(
            item_id=f"{NAME}:{self.qid}:{asked.region.name}:{language}{tail}",
            group=f"{NAME}:{self.qid}",
            source=NAME,
            task=Task.QA_OPTIONS,
            question=_question(asked, language),
            gold=gold,
            wrong=tuple(wrong),
            country=asked.region.country,
            language=language,
            topic=(asked.annotation.topic if asked.annotation else None) or self.topic,
        )


def left_out(place: str, reason: str) -> BadRecord:
    """A record of BLEnD that gives no item, and why."""
    return BadRecord(source=NAME, place=place, reason=reason)


def _against(gold: str, foreign: Iterable[tuple[str, ...]]) -> list[str]:
    """Foreign answers of the gold one's kind (number, time, words) that mean another thing, none wider than another."""
    right, kind = Given([gold], COMMON), _kind(gold)
    chosen: dict[frozenset[str], str] = {}
    for names in foreign:
        stems = meaning(names[0]).stems
        if _kind(names[0]) != kind or any(stems <= one or one <= stems for one in chosen):
            continue
        if not any(right.covers(other) for other in names):
            chosen[stems] = names[0]
    return list(chosen.values())


def _kind(answer: str) -> tuple[bool, bool]:
    found = meaning(answer)
    return found.number is not None, found.minutes is not None


def _published(asked: Asked, given: Given) -> dict[str, list[str]]:
    """Wrong options of the published multiple-choice questions by their right answer, where annotators gave that."""
    found: dict[str, list[str]] = {}
    for choice in asked.choices:
        gold = str(choice.choices[choice.answer]).strip()
        if usable(gold, "en") and (asked.annotation is None or given.covers(gold)):
            options = [
                option.strip() for letter, option in choice.choices.items() if option and letter != choice.answer
            ]
            found.setdefault(gold, []).extend(option for option in options if option)
    return found


def _question(asked: Asked, language: str) -> str:
    if asked.annotation is None:
        question = _INSTRUCTION.sub("", asked.choices[0].question)
    elif language == "en" and asked.region.language != "en":
        question = asked.annotation.en_question
    else:
        question = asked.annotation.question
    return question.replace("your country", asked.region.spoken)
