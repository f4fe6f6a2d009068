"""Find the words an error points at: models quote almost verbatim, and a dashboard must mark the right place."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from rapidfuzz import fuzz

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
    words = span.split()
    if not words:
        return None
    found = re.search(r"\s+".join(re.escape(word) for word in words), text, re.IGNORECASE)
    return found.span() if found else None


def _fuzzy(span: str, text: str) -> tuple[int, int] | None:
    text = text[:FUZZY_TEXT_CHARACTERS]
    if not 4 <= len(span) <= min(len(text), FUZZY_SPAN_CHARACTERS):
        return None
    best = fuzz.partial_ratio_alignment(span, text, score_cutoff=FUZZY_THRESHOLD)
    return (best.dest_start, best.dest_end) if best and best.dest_end > best.dest_start else None


def locate(error: CulturalError, instruction: str, output: str) -> LocatedSpan:
    """Exact first, then ignoring case and white space, then the best fuzzy match; the stated half before the other."""
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
