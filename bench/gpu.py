"""How busy the GPU is while something is measured, as its own tool says it; on a machine without one, nothing."""

from __future__ import annotations

import shutil
import subprocess
import threading
import time

EVERY_MS = 500
COMMAND = ("nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits", f"--loop-ms={EVERY_MS}")


class Gpu:
    """Utilisation of the first GPU, looked at twice a second by a process of its own."""

    def __init__(self, command: tuple[str, ...] = COMMAND) -> None:
        self._command = command
        self._seen: list[tuple[float, float]] = []
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> Gpu:
        if shutil.which(self._command[0]):
            self._child = subprocess.Popen(self._command, stdout=subprocess.PIPE, text=True)
            self._thread = threading.Thread(target=self._hear, args=(self._child,), daemon=True)
            self._thread.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self._child is not None:
            self._child.terminate()
            self._child.wait()
            self._thread.join()

    def busy(self, seconds: float) -> float | None:
        """The share of the last so many seconds in which it computed; None without a GPU."""
        if not self._seen:
            return None
        last = [percent for when, percent in self._seen if when >= self._seen[-1][0] - seconds]
        return round(sum(last) / len(last) / 100, 3)

    def _hear(self, child: subprocess.Popen[str]) -> None:
        assert child.stdout is not None
        for line in child.stdout:
            if line.strip().isdigit():
                self._seen.append((time.monotonic(), float(line)))
