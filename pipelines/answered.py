"""How many pairs have an answer, those of units that are not done yet among them.

A unit on a laptop takes minutes, and a bar that stands still so long looks broken. These counts are for the eye alone:
what a run has done is what it has committed.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import ray
from ray.exceptions import GetTimeoutError, RayError

from pipelines.progress import Watcher

EVERY = 1.0  # seconds


class Answered:
    """Where callers, each in a process of its own, tell what the driver shows."""

    def __init__(self) -> None:
        self._pairs = 0

    def add(self, pairs: int) -> None:
        self._pairs += pairs

    def pairs(self) -> int:
        return self._pairs


class Telling:
    """A caller's end: it tells now and then, so that a fast judge does not cost a message for every call."""

    def __init__(self, answered: Any) -> None:
        self._answered = answered
        self._untold = 0
        self._last = time.monotonic()

    def add(self, pairs: int) -> None:
        self._untold += pairs
        if self._answered is None or time.monotonic() - self._last < EVERY:
            return
        self._answered.add.remote(self._untold)
        self._untold, self._last = 0, time.monotonic()


@contextmanager
def shown_to(watcher: Watcher) -> Iterator[Any]:
    """The actor to tell; while it is open the watcher hears every second what it has been told."""
    answered = ray.remote(num_cpus=0)(Answered).remote()
    over = threading.Event()

    def show() -> None:
        while not over.wait(EVERY):
            try:
                watcher.answered(ray.get(answered.pairs.remote(), timeout=EVERY))
            except (GetTimeoutError, RayError):  # on a busy machine, or with its node gone: the bar moves with units
                continue

    thread = threading.Thread(target=show, daemon=True, name="excam-answered")
    thread.start()
    try:
        yield answered
    finally:
        over.set()
        thread.join()
