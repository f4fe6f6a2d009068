"""How fast one client may ask: a bucket of requests that refills steadily, for each address."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable

MOST_CLIENTS = 10_000


class Pace:
    """``burst`` requests at once, ``per_second`` in the long run; the clients seen last are remembered."""

    def __init__(self, burst: int = 60, per_second: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._burst = burst
        self._per_second = per_second
        self._clock = clock
        self._lock = threading.Lock()
        self._left: OrderedDict[str, tuple[float, float]] = OrderedDict()

    def wait(self, client: str) -> float:
        """Count a request: 0 when it may go on, else the seconds until the next one may."""
        now = self._clock()
        with self._lock:
            left, at = self._left.pop(client, (float(self._burst), now))
            left = min(self._burst, left + (now - at) * self._per_second)
            allowed = left >= 1
            self._left[client] = (left - 1 if allowed else left, now)
            if len(self._left) > MOST_CLIENTS:
                self._left.popitem(last=False)
        return 0.0 if allowed else (1 - left) / self._per_second
