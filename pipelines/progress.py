"""What a run has done so far, counted where it happens and shown where a person looks."""

from __future__ import annotations

import time
from dataclasses import dataclass, fields
from typing import Protocol

import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from pipelines.files import BrokenFile


@dataclass(frozen=True)
class Tally:
    """Counts of a run: rows read, pairs the engine judged, and what came of them."""

    rows: int = 0
    judged: int = 0
    errors: int = 0
    not_applicable: int = 0
    reused: int = 0
    dead_letters: int = 0
    skipped: int = 0
    retries: int = 0

    def __add__(self, other: Tally) -> Tally:
        return Tally(*(getattr(self, field.name) + getattr(other, field.name) for field in fields(Tally)))


@dataclass(frozen=True)
class Planned:
    """What there is to do, said before the first pair is judged."""

    files: int
    files_done: int
    broken: tuple[BrokenFile, ...]
    rows: int


class TallyKeeper:
    """Adds up what the stages report; lives in an actor of its own, so that the driver can look at any time."""

    def __init__(self) -> None:
        self._total = Tally()
        self._begun: float | None = None

    def begin(self) -> None:
        """The first pair is about to be judged: everything before it was start-up."""
        self._begun = self._begun or time.monotonic()

    def seconds(self) -> float:
        """How long judging has been going on."""
        return time.monotonic() - self._begun if self._begun else 0.0

    def add(self, tally: Tally) -> None:
        self._total += tally

    def total(self) -> Tally:
        return self._total


class Watcher(Protocol):
    """Told what a run is doing, so that a display can show it."""

    def fetching(self, step: str, done: int, total: int) -> None:
        """Weights are being fetched, checked or converted; ``total`` is 0 where it is not known."""

    def planned(self, plan: Planned) -> None:
        """The logs have been looked at."""

    def waiting(self, seconds: float) -> None:
        """The judge is starting."""

    def judging(self, tally: Tally) -> None:
        """Pairs are being judged; called twice a second and once at the end."""


class Silence:
    """Shows nothing; a watcher that cares for one thing alone overrides that."""

    def fetching(self, step: str, done: int, total: int) -> None:
        return None

    def planned(self, plan: Planned) -> None:
        return None

    def waiting(self, seconds: float) -> None:
        return None

    def judging(self, tally: Tally) -> None:
        return None


def start_tally() -> ray.actor.ActorHandle:
    """A keeper on the driver's own node: whichever other node dies, the count lives as long as the run does."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    return ray.remote(num_cpus=0, max_restarts=-1, scheduling_strategy=here)(TallyKeeper).remote()
