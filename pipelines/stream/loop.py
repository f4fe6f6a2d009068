"""``excam stream``: micro-batch after micro-batch, the next one read while this one is judged, committed in order."""

from __future__ import annotations

import threading
import time
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field, replace
from functools import reduce
from operator import add
from typing import Any

import ray
from confluent_kafka import KafkaException
from ray.exceptions import RayError, RayTaskError

from excam.background import in_background
from excam.fault import UserError
from excam.fault_point import fault_point
from excam.store import OffsetRange
from pipelines.plan import RunPlan
from pipelines.session import Session
from pipelines.stream.commit import BUDGET, DeadLetterTopic, commit_batch, mirror
from pipelines.stream.plan import BatchPlan, BatchSize, Planner, TopicTruncatedError
from pipelines.stream.read import read_ranges
from pipelines.stream.registry import RegistryAwayError
from pipelines.stream.screener import PartCount, Screened
from pipelines.stream.settings import StreamOptions
from pipelines.stream.stages import JudgedUnit, start_screeners, start_stream_judge
from pipelines.stream.topic import Topic, refused
from pipelines.stream.watch import BatchDone, StreamWatcher

BATCHES_AT_ONCE = 2  # one being judged and one behind it, so that the engine never waits for a batch to be committed
IDLE_SECONDS = 0.5
LONGEST_PAUSE = 15.0
TIDY_SECONDS = 600.0
MOST_FAILURES = 20  # in a row, for reasons that waiting for a broker does not explain

# The brokers, the registry or a worker are unwell: the batch is read again from where the store stands.
RECOVERABLE = (KafkaException, RayError, RegistryAwayError, TopicTruncatedError, ValueError)


@dataclass
class Batch:
    """A micro-batch whose units are with the judge."""

    plan: BatchPlan
    parts: dict[int, PartCount]
    budget: str
    rows: int
    waiting: list[Any]
    submitted_at: float
    done: list[JudgedUnit] = field(default_factory=list)


class StreamLoop:
    """Keeps one topic judged until told to stop, or until what was there at the start has its outcome."""

    def __init__(
        self, session: Session, plan: RunPlan, topic: Topic, options: StreamOptions, watcher: StreamWatcher
    ) -> None:
        self._session, self._options, self._topic, self._watcher = session, options, topic, watcher
        self._screeners = start_screeners(plan, options, topic.source)
        self._plan = ray.put(plan)
        tell_letters = options.dead_letter_topic is not None
        self._judge = start_stream_judge(self._plan, plan.in_flight, tell_letters=tell_letters)
        self._letters = (
            DeadLetterTopic(options.dead_letter_topic, options.access) if options.dead_letter_topic else None
        )
        self._planner = Planner(topic, BatchSize(options.max_batch, options.max_latency))
        self._budget = ""
        self._batches: deque[Batch] = deque()
        self._reading: Future[Batch | None] | None = None
        self._given_up: Future[Batch | None] | None = None
        self._failures = 0
        self._read_at = 0.0
        self._pause = 0.0
        self._settled_at = time.monotonic()
        self._tidied_at = time.monotonic()
        self.stopping = threading.Event()

    def run(self) -> None:
        """Judge until there is nothing left to do or ``stopping`` is set; then give what is in hand its grace."""
        self._begin()
        target = {part: bound.high for part, bound in self._topic.bounds().items()}
        deadline: float | None = None
        while True:
            if self.stopping.is_set():
                deadline = deadline or time.monotonic() + self._options.grace
                if not self._batches or time.monotonic() > deadline:
                    return
            elif self._options.until_caught_up and not self._batches and self._reached(target):
                return
            else:
                self._feed()
            try:
                if not self.stopping.is_set():
                    self._collect()
                self._settle()
            except RECOVERABLE as error:
                self._recover(error)

    def _begin(self) -> None:
        """Take up where the store stands; where it knows nothing, store the start before anything is read."""
        options, session = self._options, self._session
        version = session.card.judge_version
        stored = session.store.positions(self._topic.source, version)
        self._budget = session.store.stream_note(f"{self._topic.source}:{BUDGET}", version)
        starts = self._planner.begin(stored, options.start, rewind=options.rewind)
        if starts:
            session.store.commit(session.lease, session.run_id, version, [], [], starts)
        mirror(self._topic, self._planner.positions)
        self._settled = dict(self._planner.positions)
        self._watcher.started(self._topic.source, self._settled)

    def _reached(self, target: dict[int, int]) -> bool:
        return all(self._settled.get(part, 0) >= end for part, end in target.items())

    def _feed(self) -> None:
        """Start reading the next batch when there is room for it, unless there was nothing a moment ago."""
        if self._given_up is not None and self._given_up.done():
            self._given_up = None
        busy = self._reading is not None or self._given_up is not None or len(self._batches) >= BATCHES_AT_ONCE
        if not busy and time.monotonic() >= self._read_at:
            self._reading = in_background(self._read, "excam-read-ahead")

    def _read(self) -> Batch | None:
        """Steps 1 to 3: plan, read, screen; then the units go to the judge. Runs beside the judging of the last one."""
        plan = self._planner.next()
        if plan is None:
            return None
        fault_point("planned")
        reader = self._session.card.judge_version
        tables = read_ranges(self._topic.name, self._options.access, plan.ranges, plan.positions, reader)
        fault_point("read")
        share = len(self._screeners)
        streams = [
            screener.screen.options(num_returns="streaming").remote(plan.ranges, self._budget, *tables[number::share])
            for number, screener in enumerate(self._screeners)
        ]
        counted: list[Screened] = [ray.get(next(stream)) for stream in streams]
        fault_point("screened")
        units = [self._judge.judge.remote(unit) for stream in streams for unit in stream]
        parts = {planned.part: reduce(add, (one.parts[planned.part] for one in counted)) for planned in plan.ranges}
        rows = sum(one.rows for one in counted)
        plan = self._planner.recount(plan, {part: count.first for part, count in parts.items()})
        return Batch(plan, parts, counted[0].budget, rows, units, time.monotonic())

    def _collect(self) -> None:
        """Take over a batch that has been read."""
        if self._reading is None or not self._reading.done():
            return
        reading, self._reading = self._reading, None
        batch = reading.result()
        if self._pause:
            self._watcher.recovered()
        self._pause, self._failures = 0.0, 0
        self._read_at = time.monotonic() + (IDLE_SECONDS if batch is None else 0.0)
        if batch is None:
            self._watcher.idle()
            return
        self._batches.append(batch)
        self._budget = batch.budget
        for moved in batch.plan.moved:
            self._planner.positions[moved.part] = moved.next_offset
        for planned in batch.plan.ranges:
            self._planner.positions[planned.part] = planned.settled(batch.parts[planned.part].last)

    def _settle(self) -> None:
        """Wait a moment for the oldest batch; when all of it is judged, commit it."""
        if not self._batches:
            time.sleep(0.05)
            return
        batch = self._batches[0]
        if batch.waiting:
            ready, batch.waiting = ray.wait(batch.waiting, num_returns=len(batch.waiting), timeout=0.2)
            batch.done += ray.get(ready)
        self._watcher.queued(sum(one.rows - sum(unit.rows for unit in one.done) for one in self._batches))
        if batch.waiting:
            return
        busy = time.monotonic() - max(batch.submitted_at, self._settled_at)
        ranges = [*batch.plan.moved, *self._ranges(batch)]
        done = BatchDone.of(batch.done, ranges, batch.parts, self._planner.bounds, busy)
        ranges = [replace(one, detail=done.note(one.part)) for one in ranges]
        begun = time.monotonic()
        commit_batch(self._session, self._topic, batch.done, ranges, batch.budget, self._letters)
        self._batches.popleft()
        self._report(batch, done.later(time.monotonic() - begun), ranges)
        if time.monotonic() - self._tidied_at > TIDY_SECONDS:
            self._session.store.tidy(self._session.lease)
            self._tidied_at = time.monotonic()

    def _ranges(self, batch: Batch) -> list[OffsetRange]:
        ranges = []
        for planned in batch.plan.ranges:
            count = batch.parts[planned.part]
            end = planned.settled(count.last)
            counts = (count.messages, count.empty, count.records, count.skipped)
            if end > planned.start:
                ranges.append(OffsetRange(self._topic.source, planned.part, planned.start, end, "read", *counts))
        return ranges

    def _report(self, batch: Batch, done: BatchDone, ranges: list[OffsetRange]) -> None:
        self._settled_at = time.monotonic()
        self._settled |= {one.part: one.next_offset for one in ranges}
        self._planner.size.learn(done.messages, sum(count.bytes for count in batch.parts.values()), done.seconds)
        self._session.tally += done.tally
        self._session.seconds += done.seconds
        self._watcher.settled(done)

    def _recover(self, error: Exception) -> None:
        """Forget what is in hand and go on from where the store stands, after a pause that grows while it fails."""
        cause = error.cause if isinstance(error, RayTaskError) else error
        if isinstance(cause, KafkaException) and refused(cause):
            fix = "check the settings for SASL and TLS, and this user's rights on the topic and group"
            raise UserError(f"the brokers refuse {self._topic.name}: {cause.args[0].str()}", fix) from error
        self._failures += not isinstance(cause, KafkaException | RegistryAwayError)
        if self._failures > MOST_FAILURES:
            raise error
        self._batches.clear()
        version = self._session.card.judge_version
        self._planner.positions = self._session.store.positions(self._topic.source, version)
        self._budget = self._session.store.stream_note(f"{self._topic.source}:{BUDGET}", version)
        self._given_up, self._reading = self._reading or self._given_up, None
        self._pause = min(LONGEST_PAUSE, 2 * self._pause or 0.5)
        self._read_at = time.monotonic() + self._pause
        self._watcher.trouble(cause if isinstance(cause, Exception) else error, self._pause)
