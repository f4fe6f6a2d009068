"""Which processes keep the cores busy while something is measured: this one and all it has started, by what they do."""

from __future__ import annotations

import threading
import time
from collections import defaultdict

import psutil

EVERY = 0.5
# The first that stands in a process's command line names it.
NAMES = {
    "VLLM::": "engine",
    "ServeReplica": "replica",
    "ReadAndScreen": "reader",
    "JudgeAndStage": "caller",
    "Screener": "reader",
    "ServeController": "Serve's controller",
    "kafka.Kafka": "broker",
    "nvidia-smi": "the watch on the GPU",
}


class Cores:
    """Processor time of a family of processes, looked at twice a second in the background."""

    def __init__(self) -> None:
        self._seen: list[tuple[float, dict[tuple[int, float], tuple[str, float]]]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._look, daemon=True)

    def __enter__(self) -> Cores:
        self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        self._over.set()
        self._thread.join()

    def busy(self, seconds: float) -> dict[str, float]:
        """Cores kept busy by each kind of process in the last so many seconds, the busiest first."""
        last = self._seen[-1]
        first = next(look for look in self._seen if look[0] >= last[0] - seconds)
        passed = max(EVERY, last[0] - first[0])
        spent: dict[str, float] = defaultdict(float)
        for process, (name, total) in last[1].items():
            spent[name] += total - first[1].get(process, (name, 0.0))[1]
        return {name: round(spent[name] / passed, 3) for name in sorted(spent, key=lambda name: -spent[name])}

    def _look(self) -> None:
        driver = psutil.Process()
        while True:
            found = {}
            for process in (driver, *driver.children(recursive=True)):
                try:
                    with process.oneshot():
                        command, times = " ".join(process.cmdline()), process.cpu_times()
                        found[process.pid, process.create_time()] = (
                            "driver" if process.pid == driver.pid else _name(command),
                            times.user + times.system,
                        )
                except psutil.Error:
                    continue
            self._seen.append((time.monotonic(), found))
            if self._over.wait(EVERY):
                return


def _name(command: str) -> str:
    return next((name for sign, name in NAMES.items() if sign in command), "the rest of Ray")
