"""Processor time and memory of a run, by what each of its processes does."""

from __future__ import annotations

import threading
from collections import defaultdict

import psutil

STAGES = ("ReadAndScreen", "JudgeAndStage", "Screener", "StreamJudge", "Judge")


class Footprint:
    """Watches this process and all it starts, twice a second.

    ``held`` keeps, for the driver and each stage, the MB of its largest process at every look: a leak climbs there, a
    cache levels out.
    """

    def __init__(self) -> None:
        self.seconds: dict[int, float] = {}
        self.held: dict[str, list[float]] = defaultdict(list)
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Footprint:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        self._thread.join()

    def most(self, name: str) -> float:
        """The most that it held at any look."""
        return max(self.held[name], default=0.0)

    def _look(self) -> None:
        driver = psutil.Process()
        while not self._over.wait(0.5):
            now: dict[str, float] = {}
            for process in (driver, *driver.children(recursive=True)):
                try:
                    with process.oneshot():
                        times, memory = process.cpu_times(), process.memory_info()
                        name = "driver" if process.pid == driver.pid else _stage(process.cmdline())
                except psutil.Error:
                    continue
                self.seconds[process.pid] = times.user + times.system
                now[name] = max(now.get(name, 0.0), (memory.rss - memory.shared) / 2**20)
            for name, held in now.items():
                self.held[name].append(held)


def _stage(command: list[str]) -> str:
    name = command[0] if command else ""
    return next((stage for stage in STAGES if stage in name), "others")
