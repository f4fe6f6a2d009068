"""Everyday life: ``TOPIC|question with {place}|US=answer;answer|GB=…``, for BLEnD's regions or any countries.

Codes are BLEnD's where it has one (JB is West Java, AS Assam, NG Northern Nigeria), else those of ISO 3166.

Each answer of a region is right there. Wrong is what another country says and this region does not, by the same careful
comparison that BLEnD's answers go through (decision 031).
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

from excam.country import normalise
from excam.dataset.atlas.lines import Line, answers, read_lines
from excam.dataset.atlas.rewordings import Rewordings, worded
from excam.dataset.item import Item, Task
from excam.dataset.sources.blend_answers import FEWEST_VOTES, Annotation, Asked, Vote
from excam.dataset.sources.blend_question import Question
from excam.dataset.sources.blend_regions import Region, region_of
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.ordering import show, spread
from excam.dataset.sources.places import home
from excam.dataset.sources.same_answer import COMMON

SOURCE = "atlas-everyday"
PLACE = "{place}"


def read(folder: Path, again: Rewordings = MappingProxyType({})) -> Iterator[Item]:
    """One item for each answer of each region that another country's answer can be wrong beside."""
    items = [item for line in read_lines(folder, 3) for item in _items(line, again)]
    for item in spread(items):
        yield item.model_copy(update={"options": show(item.item_id, item.gold, item.wrong)})


def _items(line: Line, again: Rewordings) -> Iterator[Item]:
    topic, question = line.fields[:2]
    if PLACE not in question:
        raise line.fault(f"the question names no {PLACE}")
    name = digest(question)
    asked = dict(_asked(line, name, topic, question))
    whole = Question(name, asked, COMMON, topic)
    for region in asked.values():
        for gold, wrong in whole.right_and_wrong(region):
            if wrong:
                item_id = f"{SOURCE}:{name}:{region.region.name}:{digest(gold)[:8]}"
                yield Item(
                    item_id=item_id,
                    group=f"{SOURCE}:{name}",
                    source=SOURCE,
                    task=Task.QA_OPTIONS,
                    question=worded(question, again, item_id).replace(PLACE, region.region.spoken),
                    gold=gold,
                    wrong=tuple(wrong),
                    country=region.region.country,
                    language="en",
                    topic=topic,
                )


def _country(code: str) -> Region | None:
    return Region(code, code, code, "en", home(code)) if normalise(code) == code else None


def answered(line: Line) -> Iterator[tuple[Region, tuple[str, ...]]]:
    """Each region of a line with its answers, the first one the commonest."""
    for code, value in line.cells(2):
        region = region_of(code) or _country(code)
        if region is None:
            raise line.fault(f"{code} is neither a region of BLEnD nor a country")
        yield region, answers(value)


def _asked(line: Line, name: str, topic: str, question: str) -> Iterator[tuple[str, Asked]]:
    for region, found in answered(line):
        # As if many had given the first answer, and fewer each one after it: all of them count as given.
        votes = tuple(
            Vote(en_answers=(answer,), count=FEWEST_VOTES + len(found) - number) for number, answer in enumerate(found)
        )
        here = question.replace(PLACE, region.spoken)
        told = Annotation(qid=name, topic=topic, question=here, en_question=here, votes=votes)
        yield region.name, Asked(line.place, region, told)
