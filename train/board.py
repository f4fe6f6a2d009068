"""What workers tell the terminal: they write it on a board that outlives them, and the driver reads it there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import ray
from ray.train import UserCallback

Say = Callable[[Mapping[str, Any]], None]
EVERY = 0.5  # seconds


@ray.remote(num_cpus=0)
class Board:
    """Where workers, and whoever sees one fail, write what the terminal shows."""

    def __init__(self) -> None:
        self._facts: list[Mapping[str, Any]] = []

    def write(self, facts: Mapping[str, Any]) -> None:
        self._facts.append(facts)

    def since(self, seen: int) -> list[Mapping[str, Any]]:
        return self._facts[seen:]


class Failures(UserCallback):  # type: ignore[misc]
    """Writes on the board why a worker ended, before all of them begin again."""

    def __init__(self, board: Any) -> None:
        self._board = board

    def after_exception(self, run_context: Any, worker_exceptions: dict[int, Exception]) -> None:
        for rank, error in sorted(worker_exceptions.items()):
            self._board.write.remote({"event": "failed", "rank": rank, "why": why(error)})


def why(error: Exception) -> str:
    """The line in which Ray's account of a failure ends: the exception itself with its fix, or how the process died."""
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return "; ".join(line.strip() for line in lines[-2 if lines[-1].startswith("  fix: ") else -1 :])


@contextmanager
def listening(board: Any, say: Say) -> Iterator[None]:
    """Pass on what the board holds while the block runs, and the rest at its end."""
    over = threading.Event()

    def listen() -> None:
        seen, last = 0, False
        while not last:
            last = over.wait(EVERY)
            for facts in ray.get(board.since.remote(seen)):
                seen += 1
                say(facts)

    thread = threading.Thread(target=listen, daemon=True, name="excam-board")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
