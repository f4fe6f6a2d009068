"""What a running stream shows: one line that changes on a terminal, a line a minute in a log."""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping
from types import TracebackType
from typing import TYPE_CHECKING

from rich.console import Console
from rich.status import Status

from excam.logs import event, started, wants_json
from pipelines.progress import Tally
from pipelines.stream.watch import StreamWatcher

if TYPE_CHECKING:
    from pipelines.stream.watch import BatchDone

LINE_SECONDS = 60.0


class StreamDisplay(StreamWatcher):
    """Shows a stream on stderr; says nothing when quiet, except that something is wrong."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = _console(quiet=quiet)
        self._alarm = _console() if quiet else self._console
        self._status = Status("starting the judge", console=self._console)
        self._tally = Tally()
        self._told_at = 0.0
        self._troubled_at: float | None = None

    def __enter__(self) -> StreamDisplay:
        if self._console.is_terminal:
            self._status.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._status.stop()

    def fetching(self, step: str, done: int, total: int) -> None:
        self._status.update(step)

    def waiting(self, seconds: float) -> None:
        self._status.update(f"starting the judge ({seconds:.0f} s)")

    def started(self, source: str, positions: Mapping[int, int]) -> None:
        self._console.print(f"{source}: {len(positions)} partitions, going on at {sum(positions.values()):,} offsets")

    def settled(self, done: BatchDone) -> None:
        self._tally += done.tally
        if done.lost:
            self._alarm.print(
                f"{done.lost:,} offsets were deleted by retention before they were read: recorded as lost"
            )
            _tell("offsets_lost", offsets=done.lost)
        lag = sum(one.messages for one in done.lags.values())
        middle, high = done.percentile(50), done.percentile(95)
        ages = f", log to verdict {middle:.1f} s (P95 {high:.1f} s)" if middle is not None and high is not None else ""
        speed = done.tally.judged / max(done.seconds, 0.001)
        line = (
            f"{self._tally.rows:,} records, {self._tally.errors:,} errors, {self._tally.dead_letters:,} dead letters; "
            f"{speed:.1f} pairs/s, {lag:,} messages behind{ages}"
        )
        self._status.update(line)
        if not self._console.is_terminal and time.monotonic() - self._told_at > LINE_SECONDS:
            self._told_at = time.monotonic()
            self._console.print(line)

    def trouble(self, error: BaseException, pause: float) -> None:
        if self._troubled_at is None:
            self._troubled_at = time.monotonic()
            self._alarm.print(f"trouble: {type(error).__name__}: {str(error)[:300]}; trying again")
            _tell("trouble", error=type(error).__name__)  # its message may quote what somebody said
        self._status.update(f"in trouble for {time.monotonic() - self._troubled_at:.0f} s, trying again")

    def recovered(self) -> None:
        if self._troubled_at is not None:
            seconds = round(time.monotonic() - self._troubled_at)
            self._alarm.print(f"well again after {seconds} s")
            _tell("recovered", seconds=seconds)
        self._troubled_at = None


class SuccessorDisplay(StreamWatcher):
    """Says of the judge that comes up beside the running one what its owner waits for: that it has caught up."""

    def __init__(self, *, quiet: bool = False) -> None:
        self._console = _console(quiet=quiet)
        self._alarm = _console() if quiet else self._console
        self._told = False

    def started(self, source: str, positions: Mapping[int, int]) -> None:
        self._console.print(f"the next judge begins at {sum(positions.values()):,} offsets of {source}")

    def idle(self) -> None:
        if not self._told:
            self._console.print("the next judge has caught up; compare the two, then start the stream with it alone")
        self._told = True

    def trouble(self, error: BaseException, pause: float) -> None:
        self._alarm.print(f"the next judge is in trouble: {type(error).__name__}: {str(error)[:300]}")
        _tell("next_judge_in_trouble", error=type(error).__name__)


def _console(*, quiet: bool = False) -> Console:
    return Console(stderr=True, quiet=quiet or wants_json(), highlight=False, markup=False, emoji=False)


def _tell(name: str, **fields: object) -> None:
    """What is wrong, where machines read."""
    if started():
        event(name, logging.WARNING, **fields)
