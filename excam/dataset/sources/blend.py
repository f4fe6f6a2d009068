"""BLEnD: everyday questions asked in sixteen regions; multiple choice is rebuilt from what people answered.

The right answer is the one most annotators of a region gave. A wrong option is what at least two annotators of
another country gave to the same question and nobody of this region did, in any spelling or under any other name.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources.blend_answers import FEWEST_VOTES, Annotation, Asked, Choice, Topic, common_names, usable
from excam.dataset.sources.blend_regions import region_of
from excam.dataset.sources.ordering import show, spread
from excam.dataset.sources.records import read_rows
from excam.dataset.sources.same_answer import Given, Synonyms, meaning, plain
from excam.dataset.sources.source import Source

NAME = "blend"
_INSTRUCTION = re.compile(r"\s*Without any explanation, choose only one.*\Z", re.DOTALL)

_ONE_ANSWER = re.compile(
    r"\bmost\b|\bhow (?:many|long|much)\b|\bwhen\b|\bwhat (?:time|age|month|day)\b|HH:MM|Arabic", re.I
)
COMMONPLACE = 0.34
"""An answer given in more than this share of the regions is likely true here too, unless only one answer can be."""

Regions = dict[str, Asked]


def read(paths: list[Path]) -> Iterator[Item | BadRecord]:
    """Items in English for every region, and in the local language where another country speaks it too."""
    questions: dict[str, Regions] = {}
    topics: dict[str, str] = {}
    for path in paths:
        kind = path.as_posix().casefold().rpartition(f"/{NAME}/")[2]
        if re.search(r"\bmcq|mc_questions|multiple-choice", kind):
            yield from _read_choices(path, questions)
        elif "question" in kind:
            yield from _read_topics(path, topics)
        else:
            yield from _read_annotations(path, questions)
    lists = (vote for regions in questions.values() for asked in regions.values() for vote in asked.votes)
    synonyms = Synonyms(names for vote in lists for names in (vote.en_answers, vote.answers))
    items: list[Item] = []
    for qid, regions in sorted(questions.items()):
        for outcome in _Question(qid, regions, synonyms, topics.get(qid)).items():
            if isinstance(outcome, Item):
                items.append(outcome)
            else:
                yield outcome
    for item in spread(items):
        yield item.model_copy(update={"options": show(item.item_id, item.gold, item.wrong)})


def _read_topics(path: Path, topics: dict[str, str]) -> Iterator[BadRecord]:
    for row in read_rows(NAME, path, Topic):
        if isinstance(row, BadRecord):
            yield row
        else:
            topics[row[1].qid] = row[1].topic


def _read_annotations(path: Path, questions: dict[str, Regions]) -> Iterator[BadRecord]:
    from_path = region_of(path.name.split(".")[0].removesuffix("_data")) or region_of(path.parent.name)
    for row in read_rows(NAME, path, Annotation):
        if isinstance(row, BadRecord):
            yield row
            continue
        place, annotation = row
        region = region_of(annotation.region) if annotation.region else from_path
        if region is None:
            yield _bad(place, f"region: {annotation.region!r} is none of BLEnD's regions")
            continue
        asked = questions.setdefault(annotation.qid, {}).setdefault(region.name, Asked(place, region))
        asked.annotation = asked.annotation or annotation
        if asked.votes != annotation.votes:
            yield _bad(place, "qid: stands twice for its region, with other answers")


def _read_choices(path: Path, questions: dict[str, Regions]) -> Iterator[BadRecord]:
    for row in read_rows(NAME, path, Choice):
        if isinstance(row, BadRecord):
            yield row
            continue
        place, choice = row
        region = region_of(choice.region)
        if region is None:
            yield _bad(place, f"region: {choice.region!r} is none of BLEnD's regions")
        elif not choice.choices.get(choice.answer):
            yield _bad(place, f"answer: {choice.answer!r} is none of the choices")
        else:
            asked = questions.setdefault(choice.qid, {}).setdefault(region.name, Asked(place, region))
            asked.choices.append(choice)


def _bad(place: str, reason: str) -> BadRecord:
    return BadRecord(source=NAME, place=place, reason=reason)


class _Question:
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
        for asked in self.regions:
            given = Given(asked.said(), self.synonyms)
            yield from self._english(asked, given)
            if asked.region.language != "en" and not asked.undecided(asked.region.language):
                gold = self._name(asked.told(asked.region.language)[0][0][0], asked.region.language)
                wrong = self._wrong(asked.region.language, gold, self._elsewhere(asked, asked.region.language), given)
                if wrong:
                    yield self._item(asked, asked.region.language, gold, wrong)

    def _english(self, asked: Asked, given: Given) -> Iterator[Item | BadRecord]:
        published = _published(asked, given)
        why = asked.undecided("en")
        if why and not published:
            yield _bad(asked.place, why)
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
                else _bad(asked.place, "left out: no other country's answer is wrong here")
            )

    def _name(self, answer: str, language: str) -> str:
        return self.names[language].get(meaning(answer).stems, answer)

    def _elsewhere(self, asked: Asked, language: str) -> Iterator[list[str]]:
        for other in self.regions:
            if other.region.country != asked.region.country and language in ("en", other.region.language):
                yield from (names for names, count in other.told(language) if count >= FEWEST_VOTES)

    def _wrong(self, language: str, gold: str, candidates: Iterable[list[str]], given: Given) -> list[str]:
        """Candidates of the gold answer's kind (number, time, words) that nobody gave, none a wider form of another."""
        right, kind = Given([gold], Synonyms()), _kind(gold)
        chosen: dict[frozenset[str], str] = {}
        for names in candidates:
            name = self._name(names[0], language)
            stems = meaning(name).stems
            if _kind(name) != kind or not usable(name, language) or any(stems <= one or one <= stems for one in chosen):
                continue
            if not self.one_answer and self.everywhere[stems] > max(2, COMMONPLACE * len(self.regions)):
                continue
            if not any(given.covers(other) or right.covers(other) for other in (name, *names)):
                chosen[stems] = name
        return list(chosen.values())

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


SOURCE = Source(
    name=NAME,
    title="BLEnD: everyday knowledge in diverse cultures and languages",
    licence="CC BY-SA 4.0",
    get_it="Dataset nayeon212/BLEnD on the Hugging Face hub: put its data folder (annotations, and if wanted the "
    "multiple-choice questions) under blend/.",
    patterns=(
        *("**/*.jsonl.gz", "**/*_data.json", "**/*_questions.csv", "**/*.parquet"),
        *("**/*mc_questions*", "**/mc_questions*/*.json"),
    ),
    read=read,
)
