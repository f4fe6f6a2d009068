"""A text with its errors marked: in colour where there is colour, and in brackets with a number everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from rich.text import Text

from excam.cli.printable import printable

STYLES = {"major": "bold red", "minor": "yellow"}


@dataclass(frozen=True)
class Mark:
    """A stretch of a text, as character offsets, with the number of the error it belongs to."""

    number: int
    start: int
    end: int
    severity: str


def marked(text: str, marks: Sequence[Mark]) -> Text:
    """The text made safe for the terminal, each mark as ``[1: words]``; marks that overlap share their words.

    Offsets count characters of the text as it was logged, so pieces are cut first and made printable afterwards.
    """
    inside = [mark for mark in marks if 0 <= mark.start < mark.end <= len(text)]
    cuts = sorted({0, len(text), *(mark.start for mark in inside), *(mark.end for mark in inside)})
    shown = Text()
    for start, end in pairwise(cuts):
        covering = [mark for mark in inside if mark.start <= start and end <= mark.end]
        worst = min((mark.severity for mark in covering), default="")  # "major" sorts before "minor"
        style = STYLES.get(worst, "bold") if covering else ""
        for mark in inside:
            if mark.start == start:
                shown.append(f"[{mark.number}: ", style=STYLES.get(mark.severity, "bold"))
        shown.append(printable(text[start:end], lines=True), style=style)
        shown.append("]" * sum(mark.end == end for mark in inside), style=style)
    return shown
