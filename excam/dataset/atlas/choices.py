"""Multiple choice on one country: customs as CulturalBench asks them, and school subjects as its exams do.

``CC|question|right|wrong|wrong|wrong`` and, in the country's language, ``LANGUAGE|CC|subject|question|right|wrong|…``.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType

from excam.country import normalise
from excam.dataset.atlas.lines import Line, read_lines
from excam.dataset.atlas.rewordings import Rewordings
from excam.dataset.item import Item, Task
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.ordering import show

CUSTOMS = "atlas-customs"
SCHOOL = "atlas-school"


def read_customs(folder: Path, again: Rewordings = MappingProxyType({})) -> Iterator[Item]:
    """One item a line, and one of the same group for its rewording."""
    for line in read_lines(folder, 4):
        code, question, right, *wrong = line.fields
        item = _item(line, CUSTOMS, code, question, [right, *wrong])
        yield item
        if question in again:
            other, answer = again[question]
            yield _item(line, CUSTOMS, code, other, [answer, *wrong]).model_copy(update={"group": item.group})


def read_school(folder: Path) -> Iterator[Item]:
    """One item a line."""
    for line in read_lines(folder, 6):
        language, code, subject, question, *options = line.fields
        if len(language) != 2 or not language.islower():
            raise line.fault(f"{language} is no code of a language")
        yield _item(line, SCHOOL, code, question, options, language, subject)


def _item(
    line: Line,
    source: str,
    code: str,
    question: str,
    options: list[str],
    language: str = "en",
    subject: str | None = None,
) -> Item:
    country = normalise(code)
    if country is None:
        raise line.fault(f"{code} is not a country")
    if len({option.casefold() for option in options}) < len(options):
        raise line.fault("an option stands twice")
    gold, *wrong = options
    item_id = f"{source}:{digest(code, question)}"
    return Item(
        item_id=item_id,
        group=item_id,
        source=source,
        task=Task.QA_OPTIONS,
        question=question,
        gold=gold,
        options=show(item_id, gold, wrong),
        wrong=tuple(wrong),
        country=country,
        language=language,
        topic=subject,
    )
