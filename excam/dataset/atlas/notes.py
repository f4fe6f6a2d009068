"""Notes: the atlas's facts as plain questions with their answers, for a judge to read beside the pairs it judges.

A pair shows a fact once, in some hundred tokens; a note shows it in fourteen, so a judge can meet it often. A question
of many countries stands with a few of them at a time, in either wording, so that a note cannot be known from its other
lines.
"""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from excam.dataset.atlas import choices, everyday, opinions
from excam.dataset.atlas.lines import answers, read_lines
from excam.dataset.atlas.rewordings import Rewordings, read_rewordings
from excam.dataset.draw import shuffled
from excam.dataset.sources.grouping import digest
from excam.dataset.sources.places import home

TOGETHER = 4
"""How many countries one note asks about."""


@dataclass(frozen=True)
class Note:
    """What is asked and what is answered, in turn, and the group of the question that it is about."""

    group: str
    said: tuple[tuple[str, str], ...]


def atlas_notes(facts: Path, kept: Container[str]) -> Iterator[Note]:
    """The notes of every question whose group is kept, as :func:`excam.dataset.atlas.atlas_items` names groups.

    School subjects have none: most of their questions cannot be answered without their options.
    """
    again = facts / "rewordings"
    yield from _everyday(facts / "everyday", read_rewordings(again / "everyday", 1), kept)
    yield from _customs(facts / "customs", read_rewordings(again / "customs", 2), kept)
    yield from _opinions(facts / "opinions", read_rewordings(again / "opinions", 1), kept)


def _everyday(folder: Path, again: Rewordings, kept: Container[str]) -> Iterator[Note]:
    for line in read_lines(folder, 3):
        question = line.fields[1]
        group = f"{everyday.SOURCE}:{digest(question)}"
        if group in kept:
            cells = [(region.spoken, "; ".join(found)) for region, found in everyday.answered(line)]
            for asked, some in _together(group, (question, *again.get(question, ())), cells):
                (place, answer), *others = some
                yield _note(group, [(asked.replace(everyday.PLACE, place), answer), *_elsewhere(others)])


def _customs(folder: Path, again: Rewordings, kept: Container[str]) -> Iterator[Note]:
    for line in read_lines(folder, 4):
        code, question, right = line.fields[:3]
        group = f"{choices.CUSTOMS}:{digest(code, question)}"
        if group in kept:
            yield _note(group, [(question, right)])
            if question in again:
                yield _note(group, [(again[question][0], again[question][1])])


def _opinions(folder: Path, again: Rewordings, kept: Container[str]) -> Iterator[Note]:
    for line in read_lines(folder, 3):
        question, offered = line.fields[0], answers(line.fields[1])
        group = f"{opinions.SOURCE}:{digest(question)}"
        if group in kept:
            cells = [(home(code), offered[int(value) - 1]) for code, value in line.cells(2)]
            for asked, some in _together(group, (question, *again.get(question, ())), cells):
                (first, answer), *others = _elsewhere(some)
                yield _note(group, [(f"{asked} ({' / '.join(offered)}) {first}", answer), *others])


def _together(
    group: str, wordings: Sequence[str], cells: Sequence[tuple[str, str]]
) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """The question in its wordings by turns, each time with a few of the countries, in an order drawn for it."""
    order = shuffled(cells, "notes", group)
    for number, at in enumerate(range(0, len(order), TOGETHER)):
        yield wordings[number % len(wordings)], order[at : at + TOGETHER]


def _elsewhere(cells: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(f"In {place}?", answer) for place, answer in cells]


def _note(group: str, said: Sequence[tuple[str, str]]) -> Note:
    spaced = ((f" {asked}" if number else asked, f" {answer}.") for number, (asked, answer) in enumerate(said))
    return Note(group, tuple(spaced))
