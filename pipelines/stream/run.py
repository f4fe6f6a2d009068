"""Put a stream together: the store's lease, the judge, the topic, and a way to stop it that leaves the store whole."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from types import FrameType
from typing import Any

from pipelines.progress import Tally
from pipelines.session import session
from pipelines.stream.loop import StreamLoop
from pipelines.stream.metrics import Metrics
from pipelines.stream.settings import StreamOptions
from pipelines.stream.successor import Successor, judging_beside
from pipelines.stream.topic import Topic
from pipelines.stream.watch import BatchDone, StreamWatcher
from serve.settings import JudgeSettings


@dataclass(frozen=True)
class Streamed:
    """What a stream did until it ended."""

    run_id: str
    judge_version: str
    tuned: bool
    source: str
    positions: dict[int, int]
    tally: Tally
    seconds: float
    stopped: bool


def stream_topic(
    options: StreamOptions,
    store_url: str,
    settings: JudgeSettings,
    watcher: StreamWatcher | None = None,
    successor: Successor | None = None,
) -> Streamed:
    """Judge a topic as it grows. SIGTERM and Ctrl-C end it within the grace period; the next run goes on from there.

    A ``successor`` judges the same topic beside it, for whoever moves to a new judge while live.
    """
    watcher = watcher or StreamWatcher()
    if options.metrics_port is not None:
        metrics = Metrics(options.topic)
        metrics.serve(options.metrics_host, options.metrics_port)
        watcher = Watchers(watcher, metrics)
    told = {"topic": options.topic, "bootstrap": options.access.bootstrap, "share": options.share}
    with (
        Topic(options.topic, options.access, options.group) as topic,
        session(store_url, settings, "stream", told, options.wait, watcher) as run,
    ):
        plan = run.plan(options.mapping, gate=options.gate)
        loop = StreamLoop(run, plan, topic, options, watcher)
        with _stopped_by_signals(loop.stopping), judging_beside(run, options, successor, loop.stopping):
            loop.run()
        stopped = loop.stopping.is_set()
        run.ended = "stopped" if stopped else "done"
        positions = run.store.positions(topic.source, run.card.judge_version)
        card = run.card
        return Streamed(
            run.run_id, card.judge_version, card.tuned, topic.source, positions, run.tally, run.seconds, stopped
        )


@contextmanager
def _stopped_by_signals(stopping: threading.Event) -> Iterator[None]:
    """The first signal asks the stream to finish, a second Ctrl-C ends it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        if stopping.is_set() and number == signal.SIGINT:
            raise KeyboardInterrupt
        stopping.set()

    before = {number: signal.signal(number, stop) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            with suppress(TypeError):  # a handler that was not set from Python cannot be put back
                signal.signal(number, handler)


class Watchers(StreamWatcher):
    """Tells two watchers at once."""

    def __init__(self, first: StreamWatcher, second: StreamWatcher) -> None:
        self._all = (first, second)

    def _tell(self, what: Callable[[StreamWatcher], Any]) -> None:
        for watcher in self._all:
            what(watcher)

    def fetching(self, step: str, done: int, total: int) -> None:
        self._tell(lambda watcher: watcher.fetching(step, done, total))

    def waiting(self, seconds: float) -> None:
        self._tell(lambda watcher: watcher.waiting(seconds))

    def started(self, source: str, positions: Mapping[int, int]) -> None:
        self._tell(lambda watcher: watcher.started(source, positions))

    def settled(self, done: BatchDone) -> None:
        self._tell(lambda watcher: watcher.settled(done))

    def idle(self) -> None:
        self._tell(lambda watcher: watcher.idle())

    def queued(self, pairs: int) -> None:
        self._tell(lambda watcher: watcher.queued(pairs))

    def trouble(self, error: BaseException, pause: float) -> None:
        self._tell(lambda watcher: watcher.trouble(error, pause))

    def recovered(self) -> None:
        self._tell(lambda watcher: watcher.recovered())
