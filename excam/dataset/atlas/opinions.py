"""Opinions: ``question|option;option|US=1|GB=2``, the number of the answer that most people of a country give."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

from excam.country import normalise
from excam.dataset.atlas.lines import answers, read_lines
from excam.dataset.atlas.rewordings import Rewordings, worded
from excam.dataset.item import Item, Task
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.places import home
from excam.dataset.templates.impersonation import AS_A_PERSON, TYPICAL

SOURCE = "atlas-opinions"


def read(folder: Path, again: Rewordings = MappingProxyType({})) -> Iterator[Item]:
    """One item for each question and country."""
    for line in read_lines(folder, 3):
        question, offered = line.fields[0], answers(line.fields[1])
        for code, value in line.cells(2):
            country = normalise(code)
            if country is None:
                raise line.fault(f"{code} is not a country")
            if not value.isdecimal() or not 1 <= int(value) <= len(offered):
                raise line.fault(f"{code}={value} names none of {len(offered)} options")
            gold = offered[int(value) - 1]
            item_id = f"{SOURCE}:{digest(question)}:{country}"
            yield Item(
                item_id=item_id,
                group=f"{SOURCE}:{digest(question)}",
                source=SOURCE,
                task=Task.IMPERSONATION,
                question=worded(question, again, item_id),
                gold=gold,
                options=offered,
                wrong=tuple(option for option in offered if option != gold),
                country=country,
                language="en",
                role=f"{TYPICAL}{home(country)}",
                context=AS_A_PERSON,
            )
