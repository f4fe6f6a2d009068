"""Processor time and memory of a run, by what each of its processes does."""

from __future__ import annotations

import threading
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

import psutil

OTHERS = "others"
COUNT_SECONDS = 0.5
STAGES = ("ReadAndScreen", "JudgeAndStage", "Screener", "StreamJudge", "Judge")


class Footprint:
    """Watches this process and all it starts: memory ten times a second, since a commit is short, the rest twice.

    ``held`` keeps, for the driver and each stage, the MB of its largest process at every look: a leak climbs there, a
    cache levels out.
    """

    def __init__(self) -> None:
        self.seconds: dict[int, float] = {}
        self._left_out: dict[int, float] = defaultdict(float)
        self._stages: dict[int, str] = {}
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

    def seconds_by_stage(self) -> dict[str, float]:
        """Processor time of the driver, of each stage, and of Ray and all others together."""
        spent: dict[str, float] = defaultdict(float)
        for process, seconds in self.seconds.items():
            spent[self._stages[process]] += seconds - self._left_out.get(process, 0.0)
        return dict(spent)

    def spent(self) -> float:
        """Processor time of all of them, what was left out aside."""
        return sum(self.seconds.copy().values()) - sum(self._left_out.values())

    @contextmanager
    def left_out(self) -> Iterator[None]:
        """Leave out what is spent meanwhile, to the last count before and after."""
        before = self.seconds.copy()
        yield
        time.sleep(2 * COUNT_SECONDS)
        for process, seconds in self.seconds.copy().items():
            self._left_out[process] += seconds - before.get(process, 0.0)

    def processes(self, stage: str) -> set[psutil.Process]:
        """Those of a stage that run now."""
        return {process for process in psutil.Process().children(recursive=True) if _stage(process) == stage}

    def _look(self) -> None:
        driver = psutil.Process()
        named: dict[psutil.Process, str] = {}
        looks = 0
        while not self._over.wait(0.1):
            if looks % round(COUNT_SECONDS / 0.1) == 0:
                named = {process: _stage(process) for process in driver.children(recursive=True)} | {driver: "driver"}
                self._count(named)
            looks += 1
            now: dict[str, float] = {}
            for process, name in named.items():
                with suppress(psutil.Error):
                    memory = process.memory_info()
                    now[name] = max(now.get(name, 0.0), (memory.rss - memory.shared) / 2**20)
            for name, held in now.items():
                self.held[name].append(held)

    def _count(self, named: Mapping[psutil.Process, str]) -> None:
        for process, name in named.items():
            with suppress(psutil.Error):
                times = process.cpu_times()
                self.seconds[process.pid] = times.user + times.system
                if self._stages.get(process.pid, OTHERS) == OTHERS:  # a worker of Ray waits before it has a stage
                    self._stages[process.pid] = name


def _stage(process: psutil.Process) -> str:
    try:
        command = process.cmdline()
    except psutil.Error:
        return OTHERS
    name = command[0] if command else ""
    return next((stage for stage in STAGES if stage in name), OTHERS)
