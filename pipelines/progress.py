"""What a run has done so far, counted where it happens and shown where a person looks."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Protocol

from pipelines.log_file import BrokenFile


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


class Watcher(Protocol):
    """Told what a run is doing, so that a display can show it."""

    def fetching(self, step: str, done: int, total: int) -> None:
        """Weights are being fetched, checked or converted; ``total`` is 0 where it is not known."""

    def planned(self, plan: Planned) -> None:
        """The logs have been looked at."""

    def waiting(self, seconds: float) -> None:
        """The judge is starting."""

    def judging(self, tally: Tally) -> None:
        """Pairs are being judged; called at the start and for every unit that is done."""

    def answered(self, pairs: int) -> None:
        """The judge has answered for so many pairs, those of units that are not done yet among them."""


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

    def answered(self, pairs: int) -> None:
        return None
