"""Find the words an error points at: models quote almost verbatim, and a dashboard must mark the right place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from rapidfuzz import fuzz

from excam.composed import composed, composed_with_places
from excam.report import CulturalError, Location

FUZZY_THRESHOLD = 80.0
LOOSE_CHARACTERS = 100_000  # at either end of a text, where a judge has read it; exact words are found anywhere
FUZZY_CHARACTERS = 25_000  # the same
FUZZY_SPAN_CHARACTERS = 2_000

How = Literal["exact", "loose", "fuzzy", "not_found"]
Place = tuple[int, int]
Search = Callable[[str, str], Place | None]


@dataclass(frozen=True)
class LocatedSpan:
    """Where a span stands, as character offsets into that half of the pair; -1 when it could not be found."""

    location: Location
    start: int
    end: int
    how: How


def _exact(span: str, text: str) -> Place | None:
    start = text.find(span)
    return None if start < 0 else _whole(re.escape(span), span, text, 0) or (start, start + len(span))


def _whole(form: str, span: str, text: str, flags: int) -> Place | None:
    """Where the span stands as words of its own: India is not meant to be found in Indian."""
    begin = r"(?<!\w)" if span[0].isalnum() else ""
    end = r"(?!\w)" if span[-1].isalnum() else ""
    found = re.search(f"{begin}{form}{end}", text, flags)
    return found.span() if found else None


def _loose(span: str, text: str) -> Place | None:
    if not (words := span.split()):
        return None
    form = r"\s+".join(re.escape(word) for word in words)
    for start, part in _ends(text, LOOSE_CHARACTERS):
        place = _in_any_case(form, span.strip(), part) or (None if part.isascii() else _composed(form, part))
        if place:
            return start + place[0], start + place[1]
    return None


def _in_any_case(form: str, span: str, text: str) -> Place | None:
    found = re.search(form, text, re.IGNORECASE)
    return found and (_whole(form, span, text, re.IGNORECASE) or found.span())


def _composed(form: str, text: str) -> Place | None:
    """A judge may read é as one character, and quote it so, where the log has an e and an accent."""
    readable, places = _readable(text)
    found = re.search(composed(form), readable, re.IGNORECASE)
    if not found:
        return None
    start, end = places[found.start()], places[found.end() - 1]
    return start, next(place for place in places[found.end() :] if place > end)


_readable = lru_cache(maxsize=4)(composed_with_places)  # the errors of one report look through the same texts


def _fuzzy(span: str, text: str) -> Place | None:
    found = []
    for start, part in _ends(text, FUZZY_CHARACTERS):
        if 4 <= len(span) <= min(len(part), FUZZY_SPAN_CHARACTERS):
            best = fuzz.partial_ratio_alignment(span, part, score_cutoff=FUZZY_THRESHOLD)
            if best and best.dest_end > best.dest_start:
                found.append((best.score, -start, start + best.dest_start, start + best.dest_end))
    return max(found)[2:] if found else None


def _ends(text: str, length: int) -> Iterator[tuple[int, str]]:
    """A text whole or, where it is long, its two ends, each with the place where it begins."""
    if len(text) <= 2 * length:
        yield 0, text
    else:
        yield 0, text[:length]
        yield len(text) - length, text[-length:]


_NEARLY_VERBATIM: dict[How, Search] = {"exact": _exact, "loose": _loose}
_MISQUOTED: dict[How, Search] = {"fuzzy": _fuzzy}


def locate(error: CulturalError, instruction: str, output: str) -> LocatedSpan:
    """Exact first, then whatever its case, white space and accents' form, in the half that the error states.

    Only then in the other half, and after both the best fuzzy match, in the same order.
    """
    texts = {Location.INSTRUCTION: instruction, Location.OUTPUT: output}
    halves = sorted(texts, key=lambda location: location != error.location)
    for searches in (_NEARLY_VERBATIM, _MISQUOTED):
        for location in halves:
            for how, search in searches.items():
                if place := search(error.span, texts[location]):
                    return LocatedSpan(location, *place, how)
    return LocatedSpan(error.location, -1, -1, "not_found")
