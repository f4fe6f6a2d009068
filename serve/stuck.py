"""An engine that lives and answers nothing any more: a chip or a driver that hangs kills no process."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

STUCK_SECONDS = 1800.0  # a starved laptop may need many minutes for its next report


class EngineStuckError(Exception):
    """Requests wait, and none was answered for far too long."""


class Answers:
    """Counts the requests that wait, and the seconds in which some waited since one was last answered.

    A request that its caller gave up is no answer; time in which nobody asked is no silence.
    """

    def __init__(self, stuck_seconds: float = STUCK_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._stuck_seconds = stuck_seconds
        self._clock = clock
        self._waiting = 0
        self._silent = 0.0
        self._seen = clock()

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Around the wait for one answer."""
        self._look()
        self._waiting += 1
        try:
            yield
            self._look()
            self._silent = 0.0
        finally:
            self._look()
            self._waiting -= 1

    def check(self) -> None:
        """Raise when requests have waited for so long without an answer to any of them."""
        self._look()
        if self._waiting and self._silent > self._stuck_seconds:
            raise EngineStuckError(f"{self._waiting} requests wait, and none was answered for {self._silent:.0f} s")

    def _look(self) -> None:
        now = self._clock()
        if self._waiting:
            self._silent += now - self._seen
        self._seen = now
