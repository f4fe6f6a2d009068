"""What a pair costs in the course of one run, tenth by tenth.

Two runs on a shared machine differ by what its other guests do, and so do two tenths; but these are minutes apart,
there are ten of them, and each has its own time of a fixed piece of work beside it.
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

from bench.footprint import Footprint
from bench.yardstick import Yardstick
from pipelines.progress import Silence, Tally

TENTHS = 10


class Course(Silence):
    """Notes, whenever another tenth of the pairs is judged, what processor time and the yardstick have come to."""

    def __init__(self, pairs: int, used: Footprint, yardstick: Yardstick) -> None:
        self._pairs = pairs
        self._used = used
        self._yardstick = yardstick
        self._marks: list[tuple[int, float, int]] = []

    def judging(self, tally: Tally) -> None:
        if tally.judged * TENTHS >= self._pairs * len(self._marks):
            spent = sum(self._used.seconds.copy().values())
            self._marks.append((tally.judged, spent, len(self._yardstick.took)))

    def tenths(self) -> list[dict[str, Any]]:
        """For each tenth: pairs, ms of processor time a pair, and of the yardstick."""
        told = []
        for (pairs, spent, pieces), (more, later, longer) in zip(self._marks, self._marks[1:], strict=False):
            took = self._yardstick.took[pieces:longer] or self._yardstick.took
            cost = 1000 * (later - spent) / (more - pairs)
            told.append({"pairs": more - pairs, "cpu_ms": cost, "yardstick_ms": 1000 * fmean(took)})
        return told


def later_to_earlier(tenths: list[dict[str, Any]]) -> tuple[float, float]:
    """What a pair costs in the second half of a run, of the first half without the tenth in which it starts.

    Twice: in processor time, and in pieces of the yardstick's work.
    """
    early, late = tenths[1 : TENTHS // 2], tenths[TENTHS // 2 :]

    def ratio(what: str) -> float:
        return fmean(tenth[what] for tenth in late) / fmean(tenth[what] for tenth in early)

    return ratio("cpu_ms"), ratio("cpu_ms") / ratio("yardstick_ms")
