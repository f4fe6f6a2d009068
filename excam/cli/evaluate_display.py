"""What a terminal shows while a split is judged in this process."""

from __future__ import annotations

import signal
from types import FrameType


class Display:
    """A bar on stderr; while it is up, being told to terminate is the same as Ctrl-C.

    ``kept`` says whether what was judged until then outlives the stop.
    """

    def __init__(self, total: int, *, kept: bool = True) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        from excam.logs import wants_json

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._progress = Progress(*columns, console=Console(stderr=True, quiet=wants_json()), transient=True)
        self._total, self._kept = total, kept
        self._task = self._progress.add_task("starting the judge", total=total)

    def __enter__(self) -> Display:
        def stop(number: int, frame: FrameType | None) -> None:
            raise KeyboardInterrupt

        self._before = signal.signal(signal.SIGTERM, stop)
        self._progress.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *rest: object) -> None:
        signal.signal(signal.SIGTERM, self._before)
        self._progress.stop()
        if kind is KeyboardInterrupt:
            kept = "What was judged is kept; the same command goes on from here."
            self._progress.console.print(f"Stopped. {kept if self._kept else 'Nothing is kept.'}")

    def fetching(self, step: str, done: int, total: int) -> None:
        self._progress.update(self._task, description=step, completed=done, total=total or None)

    def judged(self, count: int) -> None:
        if self._progress.tasks[0].total != self._total or self._progress.tasks[0].description != "judging":
            self._progress.update(self._task, description="judging", total=self._total, completed=0)
        self._progress.advance(self._task, count)
