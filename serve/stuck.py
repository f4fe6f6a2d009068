"""An engine that lives and answers nothing any more: a chip or a driver that hangs kills no process."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

STUCK_SECONDS = 1800.0  # a starved laptop may need many minutes for its next report


class EngineStuckError(Exception):
    """Requests wait, and none was answered for far too long."""


class Answers:
    """Keeps count of the requests that wait, and of when one was last answered."""

    def __init__(self, stuck_seconds: float = STUCK_SECONDS) -> None:
        self._stuck_seconds = stuck_seconds
        self._waiting = 0
        self._heard = time.monotonic()

    @contextmanager
    def awaited(self) -> Iterator[None]:
        """Around the wait for one answer. One that was cancelled or failed is no sign of life."""
        if not self._waiting:
            self._heard = time.monotonic()
        self._waiting += 1
        try:
            yield
            self._heard = time.monotonic()
        finally:
            self._waiting -= 1

    def check(self) -> None:
        """Raise when requests have waited for so long without an answer to any of them."""
        silent = time.monotonic() - self._heard
        if self._waiting and silent > self._stuck_seconds:
            raise EngineStuckError(f"{self._waiting} requests wait, and none was answered for {silent:.0f} s")
