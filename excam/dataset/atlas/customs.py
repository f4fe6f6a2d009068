"""Customs: ``CC|question|right|wrong|wrong|wrong``, multiple choice on one country as CulturalBench asks it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from excam.country import normalise
from excam.dataset.atlas.lines import read_lines
from excam.dataset.item import Item, Task
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.ordering import show

SOURCE = "atlas-customs"


def read(folder: Path) -> Iterator[Item]:
    """One item a line."""
    for line in read_lines(folder, 4):
        code, question, gold, *wrong = line.fields
        country = normalise(code)
        if country is None:
            raise line.fault(f"{code} is not a country")
        if len({option.casefold() for option in (gold, *wrong)}) <= len(wrong):
            raise line.fault("an option stands twice")
        item_id = f"{SOURCE}:{digest(code, question)}"
        yield Item(
            item_id=item_id,
            group=item_id,
            source=SOURCE,
            task=Task.QA_OPTIONS,
            question=question,
            gold=gold,
            options=show(item_id, gold, wrong),
            wrong=tuple(wrong),
            country=country,
            language="en",
        )
