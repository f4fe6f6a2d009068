"""Finds exam papers that translate each other where nothing lists them, so that no question is split from its twin.

EXAMS numbered its questions in the order of reading, so two language versions of a paper run in parallel: question
for question the ids keep their distance, the options their number, the figures their value and the texts their
relative length. Letters do not help, the options were shuffled. Checked against 89 pairs of the published list, 83
are found; a wrong guess only makes a group larger.
"""

from __future__ import annotations

import re
import statistics
import uuid
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, pairwise

FARTHEST_APART = 200_000_000
"""Language versions of a paper were read within seconds; ids count tenths of a microsecond."""

_LARGEST_GAP = 40
_SHIFT = 12
_FEWEST = 4
_AGREE = 0.75
_ALIKE = 0.8


@dataclass(frozen=True)
class Sheet:
    """What of a question survives translation: its place in the order of reading, its options, figures and length."""

    exam_id: str
    number: int
    system: str
    subject: str
    language: str
    options: int
    figures: tuple[str, ...]
    length: int

    @classmethod
    def of(cls, exam_id: str, system: str, subject: str, language: str, texts: Sequence[str]) -> Sheet:
        """The sheet of a question given as its stem and its options; an id that tells no time has no place."""
        whole = " ".join(texts)
        figures = tuple(sorted(re.findall(r"\d+", whole)))
        return cls(exam_id, _number(exam_id), system, subject, language, len(texts) - 1, figures, len(whole))

    def same_frame(self, other: Sheet) -> bool:
        """Whether two questions could be one in two languages."""
        return (self.options, self.figures) == (other.options, other.figures)


def _number(exam_id: str) -> int:
    try:
        return uuid.UUID(exam_id).time
    except ValueError:
        return 0


def twins(sheets: Iterable[Sheet]) -> Iterator[tuple[str, str]]:
    """Pairs of questions that translate each other, by their ids."""
    papers: dict[tuple[str, str], list[list[Sheet]]] = {}
    for sheet in sorted(sheets, key=lambda sheet: (sheet.language, sheet.number)):
        if sheet.number:
            runs = papers.setdefault((sheet.system, sheet.subject), [[]])
            last = runs[-1][-1] if runs[-1] else sheet
            if last.language != sheet.language or sheet.number - last.number > _LARGEST_GAP:
                runs.append([])
            runs[-1].append(sheet)
    for runs in papers.values():
        for one, other in combinations([run for run in runs if len(run) >= _FEWEST], 2):
            apart = one[0].number - other[0].number
            if one[0].language != other[0].language and abs(apart) < FARTHEST_APART:
                yield from ((a.exam_id, b.exam_id) for a, b in _aligned(one, other, apart))


def _aligned(one: list[Sheet], other: list[Sheet], apart: int) -> list[tuple[Sheet, Sheet]]:
    """The shift at which two papers run side by side best, if they do at all."""
    places = {sheet.number: sheet for sheet in other}
    best: list[tuple[Sheet, Sheet]] = []
    best_likeness = _ALIKE
    for shift in range(apart - _SHIFT, apart + _SHIFT + 1):
        pairs = [(sheet, places[sheet.number - shift]) for sheet in one if sheet.number - shift in places]
        if len(pairs) < max(_FEWEST, min(len(one), len(other)) / 2):
            continue
        if sum(a.same_frame(b) for a, b in pairs) < _AGREE * len(pairs):
            continue
        likeness = _likeness([a.length for a, _ in pairs], [b.length for _, b in pairs])
        if likeness > best_likeness:
            best, best_likeness = pairs, likeness
    return best


def _likeness(one: list[int], other: list[int]) -> float:
    varied = all(any(a != b for a, b in pairwise(lengths)) for lengths in (one, other))
    return statistics.correlation(one, other) if varied else 0.0
