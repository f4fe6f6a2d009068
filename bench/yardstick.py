"""How fast the machine is while something else is measured: a shared one is not as fast in one minute as in another."""

from __future__ import annotations

import threading
import time
from statistics import fmean

ROUNDS = 100_000
EVERY_SECONDS = 2.0


class Yardstick:
    """Does the same small piece of work again and again beside what is measured, and times it.

    ``milliseconds`` is what it took on average, in processor time: two runs can be compared where it is the same.
    ``took`` holds the seconds of each.
    """

    def __init__(self) -> None:
        self.took = [_piece_of_work()]
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._again, daemon=True)

    def __enter__(self) -> Yardstick:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        self._thread.join()

    @property
    def milliseconds(self) -> float:
        return 1000 * fmean(self.took)

    def _again(self) -> None:
        while not self._over.wait(EVERY_SECONDS):
            self.took.append(_piece_of_work())


def _piece_of_work() -> float:
    begun = time.thread_time()
    total = 0
    for number in range(ROUNDS):
        total += number & 7
    return time.thread_time() - begun
