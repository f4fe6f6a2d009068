"""Find the words an error points at: models quote almost verbatim, and a dashboard must mark the right place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

from excam.composed import composed, composed_with_places
from excam.report import CulturalError, Location

FUZZY_THRESHOLD = 80.0
FUZZY_TEXT_CHARACTERS = 50_000
FUZZY_SPAN_CHARACTERS = 2_000

How = Literal["exact", "loose", "fuzzy", "not_found"]


@dataclass(frozen=True)
class LocatedSpan:
    """Where a span stands, as character offsets into that half of the pair; -1 when it could not be found."""

    location: Location
    start: int
    end: int
    how: How


def _loose(span: str, text: str) -> tuple[int, int] | None:
    if not (words := span.split()):
        return None
    form = r"\s+".join(re.escape(word) for word in words)
    if found := re.search(form, text, re.IGNORECASE):
        return found.span()
    return None if text.isascii() else _composed(form, text)


def _composed(form: str, text: str) -> tuple[int, int] | None:
    """A judge may read é as one character, and quote it so, where the log has an e and an accent."""
    readable, places = composed_with_places(text)
    found = re.search(composed(form), readable, re.IGNORECASE)
    if not found:
        return None
    start, end = places[found.start()], places[found.end() - 1]
    return start, next(place for place in places[found.end() :] if place > end)


def _fuzzy(span: str, text: str) -> tuple[int, int] | None:
    text = text[:FUZZY_TEXT_CHARACTERS]
    if not 4 <= len(span) <= min(len(text), FUZZY_SPAN_CHARACTERS):
        return None
    best = fuzz.partial_ratio_alignment(span, text, score_cutoff=FUZZY_THRESHOLD)
    return (best.dest_start, best.dest_end) if best and best.dest_end > best.dest_start else None


def locate(error: CulturalError, instruction: str, output: str) -> LocatedSpan:
    """Exact first, then whatever its case, white space and accents' form, then the best fuzzy match.

    The half that the error states is looked through before the other.
    """
    texts = {Location.INSTRUCTION: instruction, Location.OUTPUT: output}
    halves = sorted(texts, key=lambda location: location != error.location)
    for location in halves:
        start = texts[location].find(error.span)
        if start >= 0:
            return LocatedSpan(location, start, start + len(error.span), "exact")
    for how, search in (("loose", _loose), ("fuzzy", _fuzzy)):
        for location in halves:
            place = search(error.span, texts[location])
            if place:
                return LocatedSpan(location, *place, "loose" if how == "loose" else "fuzzy")
    return LocatedSpan(error.location, -1, -1, "not_found")
