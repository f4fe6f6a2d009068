"""A text cut at the edges of its errors' spans, so that a template can mark each piece where it stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from excam.store.queries.show import ShownError

LONGEST = 100_000
"""Characters shown of one text: a log may hold megabytes, a browser should not."""


@dataclass(frozen=True)
class Piece:
    """A stretch of text that lies in the same errors throughout; ``ends`` are those whose span ends with it."""

    text: str
    errors: tuple[int, ...] = ()
    severity: str | None = None
    ends: tuple[int, ...] = ()


def pieces(text: str, location: str, errors: Sequence[ShownError]) -> list[Piece]:
    """The text in pieces; errors are numbered from 1 in the order of the report, and spans may overlap."""
    shown = text[:LONGEST]
    spans = []
    for number, error in enumerate(errors, start=1):
        start, end = error.start, error.end
        if error.location == location and start is not None and end is not None and 0 <= start < end <= len(shown):
            spans.append((start, end, number, error.severity))
    edges = sorted({0, len(shown), *(edge for start, end, *_ in spans for edge in (start, end))})
    found = []
    for start, end in pairwise(edges):
        over = [span for span in spans if span[0] <= start and end <= span[1]]
        gravest = "major" if any(span[3] == "major" for span in over) else "minor" if over else None
        ending = tuple(span[2] for span in over if span[1] == end)
        found.append(Piece(shown[start:end], tuple(span[2] for span in over), gravest, ending))
    return found
