"""The progress display of a run: what it waits for, how far it is, how fast it goes, what it has found."""

from __future__ import annotations

import time
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeRemainingColumn

from excam.logs import wants_json

if TYPE_CHECKING:
    from pipelines.progress import Planned, Tally


class RunDisplay:
    """Shows a run on the terminal (on stderr, so that output can be piped); says nothing when quiet."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("{task.fields[rate]}"),
            TextColumn("{task.fields[found]}"),
            TimeRemainingColumn(),
            console=Console(stderr=True, quiet=quiet or wants_json()),
            transient=True,
        )
        self._task = self._progress.add_task("looking at the logs", total=None, rate="", found="")
        self._begun = 0.0
        self._judged = self._rows = self._answered = 0

    def __enter__(self) -> RunDisplay:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()
        if kind is not None and issubclass(kind, KeyboardInterrupt):
            self._progress.console.print("Stopped. What was judged is kept; the next run goes on from here.")

    def fetching(self, step: str, done: int, total: int) -> None:
        self._progress.update(self._task, description=step, completed=done, total=total or None)

    def planned(self, plan: Planned) -> None:
        done = f", {plan.files_done} already read" if plan.files_done else ""
        self._progress.console.print(f"{plan.files} files{done}; {plan.rows:,} rows to do")
        self._progress.update(self._task, completed=0, total=plan.rows, description="starting the judge")

    def waiting(self, seconds: float) -> None:
        self._progress.update(self._task, description=f"starting the judge ({seconds:.0f} s)")

    def judging(self, tally: Tally) -> None:
        self._begun = self._begun or time.monotonic()
        self._judged, self._rows = tally.judged, tally.rows
        found = f"{tally.errors} errors, {tally.dead_letters} dead letters"
        self._progress.update(self._task, description="judging", found=found)
        self._move()

    def answered(self, pairs: int) -> None:
        self._answered = pairs
        self._move()

    def _move(self) -> None:
        """The bar counts rows of finished units, and of the others the pairs that have an answer."""
        ahead = max(0, self._answered - self._judged)
        rate = (self._judged + ahead) / max(0.5, time.monotonic() - self._begun)
        self._progress.update(self._task, completed=self._rows + ahead, rate=f"{rate:.1f} pairs/s")
