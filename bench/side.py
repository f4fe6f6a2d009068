"""A side of a comparison as a process of its own, measured portion by portion and frozen while another one's turn is.

A machine that is shared is faster one minute than the next, so sides are compared by turns and not one after the other.
What a frozen side would do in the background (Ray's own processes are never idle) must not slow down the side whose
turn it is: all processes of the others are stopped (SIGSTOP) meanwhile.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from types import TracebackType

import psutil

from bench.cores import Cores
from bench.gpu import Gpu

READY, MEASURED = "ready", "measured"
Pairs = list[tuple[str, str]]
Measure = Callable[[Pairs], float]


@dataclass(frozen=True)
class Measured:
    """Pairs a second of one portion, and what it kept busy: cores by kind of process, and a share of the GPU."""

    rate: float
    cores: dict[str, float]
    gpu: float | None = None

    def __str__(self) -> str:
        cores = ", ".join(f"{who} {cores:.2f}" for who, cores in self.cores.items())
        return f"{self.rate:8.2f} pairs/s; cores: {cores}" + ("" if self.gpu is None else f"; GPU {self.gpu:.0%}")


class Side:
    """A child process that says when it is ready and then what came of every portion it is asked about."""

    def __init__(self, command: list[str]) -> None:
        # A session of its own: a shell that ends would hang up on a group of processes with stopped ones among them.
        self._child = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, start_new_session=True
        )
        self._hear(READY)
        self._frozen: list[psutil.Process] = []

    def __enter__(self) -> Side:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.thaw()
        assert self._child.stdin is not None
        self._child.stdin.close()
        self._child.wait()

    def measure(self, portion: int) -> Measured:
        assert self._child.stdin is not None
        self._child.stdin.write(f"{portion}\n")
        self._child.stdin.flush()
        return Measured(**json.loads(self._hear(MEASURED)))

    def freeze(self) -> None:
        """Stop the child and all it has started, the parents first, so that none starts anything meanwhile."""
        child = psutil.Process(self._child.pid)
        self._frozen = [child, *child.children(recursive=True)]
        for process in self._frozen:
            with suppress(psutil.NoSuchProcess):  # one that was just ending
                process.suspend()

    def thaw(self) -> None:
        for process in self._frozen:
            with suppress(psutil.NoSuchProcess):
                process.resume()
        self._frozen = []

    def _hear(self, word: str) -> str:
        """What follows this word at the beginning of a line; engines print lines of their own."""
        assert self._child.stdout is not None
        for line in self._child.stdout:
            if line.startswith(f"{word} "):
                return line.removeprefix(word).strip()
        raise SystemExit(f"a side ended with {self._child.wait()} before it said {word!r}")


def answer(side: AbstractContextManager[Measure], portion_of: Callable[[int], Pairs]) -> None:
    """The child's part: open a side, warm it with portion 0, then measure the portions that are asked for."""
    with side as measure:
        measure(portion_of(0))
        print(f"{READY} now", flush=True)
        for line in sys.stdin:
            pairs = portion_of(int(line))
            with Cores() as cores, Gpu() as gpu:
                rate = measure(pairs)
            seconds = len(pairs) / rate
            found = Measured(rate, cores.busy(seconds), gpu.busy(seconds))
            print(f"{MEASURED} {json.dumps(asdict(found))}", flush=True)
