"""BLEnD: everyday questions asked in sixteen regions; multiple choice is rebuilt from what people answered.

The right answer is the one most annotators of a region gave. A wrong option is what at least two annotators of
another country gave to the same question and nobody of this region did, in any spelling or under any other name.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from excam.dataset.item import BadRecord, Item
from excam.dataset.sources.blend_answers import Annotation, Asked, Choice, Topic
from excam.dataset.sources.blend_question import NAME, Question, Regions, left_out
from excam.dataset.sources.blend_regions import region_of
from excam.dataset.sources.ordering import show, spread
from excam.dataset.sources.records import read_rows
from excam.dataset.sources.same_answer import Synonyms
from excam.dataset.sources.source import Source


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
        for outcome in Question(qid, regions, synonyms, topics.get(qid)).items():
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
            yield left_out(place, f"region: {annotation.region!r} is none of BLEnD's regions")
            continue
        asked = questions.setdefault(annotation.qid, {}).setdefault(region.name, Asked(place, region))
        asked.annotation = asked.annotation or annotation
        if asked.votes != annotation.votes:
            yield left_out(place, "qid: stands twice for its region, with other answers")


def _read_choices(path: Path, questions: dict[str, Regions]) -> Iterator[BadRecord]:
    for row in read_rows(NAME, path, Choice):
        if isinstance(row, BadRecord):
            yield row
            continue
        place, choice = row
        region = region_of(choice.region)
        if region is None:
            yield left_out(place, f"region: {choice.region!r} is none of BLEnD's regions")
        elif not choice.choices.get(choice.answer):
            yield left_out(place, f"answer: {choice.answer!r} is none of the choices")
        else:
            asked = questions.setdefault(choice.qid, {}).setdefault(region.name, Asked(place, region))
            asked.choices.append(choice)


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
