"""What a pair costs in the course of one run, tenth by tenth, with room to do something else between them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Sequence
from itertools import pairwise
from statistics import fmean

from bench.footprint import Footprint
from pipelines.progress import Silence, Tally

TENTHS = 10


class Course(Silence):
    """Notes, whenever another tenth of the pairs is judged, what processor time has come to.

    ``between`` is called after the tenths named, and how long it took is noted.
    """

    def __init__(
        self, pairs: int, used: Footprint, after: Collection[int] = (), between: Callable[[], None] = lambda: None
    ) -> None:
        self._pairs = pairs
        self._used = used
        self._after = after
        self._between = between
        self._marks: list[tuple[int, float]] = []
        self.seconds_between = 0.0

    def judging(self, tally: Tally) -> None:
        tenth = len(self._marks)
        if tally.judged * TENTHS < self._pairs * tenth:
            return
        self._marks.append((tally.judged, self._used.spent()))
        if tenth in self._after:
            begun = time.monotonic()
            self._between()
            self.seconds_between += time.monotonic() - begun

    def tenths(self) -> list[float]:
        """Milliseconds of processor time a pair in each tenth; fewer than ten where units are few."""
        return [1000 * (later - spent) / (more - pairs) for (pairs, spent), (more, later) in pairwise(self._marks)]


def pauses(turns: int) -> list[int]:
    """The tenths after which to pause so many times, evenly spread."""
    return [round(TENTHS * turn / (turns + 1)) for turn in range(1, turns + 1)]


def later_to_earlier(tenths: Sequence[float], turns: Sequence[float]) -> float:
    """What a pair costs in the second half of a run, of the first half without the tenth in which it starts.

    Divided by the same of the short runs in its pauses: a machine that got slower is no growth.
    """
    some = len(turns) // 2
    machine = fmean(turns[-some:]) / fmean(turns[:some])
    return fmean(tenths[TENTHS // 2 :]) / fmean(tenths[1 : TENTHS // 2]) / machine
