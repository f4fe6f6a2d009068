"""A judge slower than the topic slows reading down: what is in hand stays bounded, and so does memory."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import psutil
import pytest
from ray import serve

from bench.standin import deploy
from excam.mapping import RecordMapping
from pipelines.session import session
from pipelines.stream.loop import BATCHES_AT_ONCE, StreamLoop
from pipelines.stream.settings import KafkaAccess, StreamOptions
from pipelines.stream.topic import Topic
from pipelines.stream.watch import BatchDone, StreamWatcher
from tests.conftest import pair_record
from tests.kafka import Kafka
from tests.pipelines.stream.conftest import Run, check_every_offset_has_one_outcome, ends, message, rows_of

pytestmark = [pytest.mark.engine, pytest.mark.faults, pytest.mark.usefixtures("judge")]

MESSAGES, BATCH, SIZE = 600, 40, 200_000  # 15 batches of 8 MB
SLACK = 32 * 2**20  # what allocators may take meanwhile; less than half of what goes through between the two looks


def memory() -> int:
    """What this process and the stream's actors hold for themselves."""
    actors = [
        process
        for process in psutil.process_iter(["cmdline"])
        if " ".join(process.info["cmdline"] or []).startswith(("ray::Screener", "ray::StreamJudge"))
    ]
    held = 0
    for process in [psutil.Process(), *actors]:
        usage = process.memory_info()
        held += usage.rss - usage.shared
    return held


class Weigh(StreamWatcher):
    """Keeps, for every batch, what was in hand and how much memory was held."""

    def __init__(self) -> None:
        self.held: list[int] = []
        self.queues: list[int] = []
        self.judged = 0

    def settled(self, done: BatchDone) -> None:
        self.held.append(memory())
        self.judged += done.tally.judged

    def queued(self, pairs: int) -> None:
        self.queues.append(pairs)


@contextmanager
def slow_stream(
    options: StreamOptions, store_url: str, settings: Any, watcher: StreamWatcher, speed: float
) -> Iterator[StreamLoop]:
    """A stream as ``stream_topic`` makes it, but for its judge, which takes so many pairs a second."""
    slow = deploy("slow", speed)
    with (
        Topic(options.topic, options.access, options.group) as topic,
        session(store_url, settings, "stream", {}, 0, watcher) as run,
    ):
        plan = replace(run.plan(RecordMapping(), gate=False), judge=slow)
        yield StreamLoop(run, plan, topic, options, watcher)
    serve.delete("slow")


def test_reading_waits_for_a_slow_judge_and_memory_stays_flat(
    kafka: Kafka, store_url: str, judge_settings: Any
) -> None:
    topic = kafka.topic()
    padding = "x" * SIZE  # a field that no mapping names: bytes to carry, nothing to judge
    kafka.produce(
        topic,
        [json.dumps(pair_record(number, padding=padding), default=str).encode() for number in range(MESSAGES)],
    )
    options = StreamOptions(topic, KafkaAccess(kafka.bootstrap), gate=False, until_caught_up=True, max_batch=BATCH)
    watcher = Weigh()
    with slow_stream(options, store_url, judge_settings, watcher, speed=80.0) as loop:
        loop.run()
    check_every_offset_has_one_outcome(store_url, ends(kafka, topic), {})
    assert watcher.judged == MESSAGES
    assert max(watcher.queues) <= BATCHES_AT_ONCE * BATCH
    early, late = watcher.held[2:6], watcher.held[-4:]
    assert max(late) - max(early) < SLACK, f"memory grew by {(max(late) - max(early)) / 2**20:.0f} MiB"


def test_what_is_not_judged_within_the_grace_is_abandoned_and_the_next_run_judges_it(
    kafka: Kafka, stream: Run, store_url: str, judge_settings: Any
) -> None:
    topic = kafka.topic()
    kafka.produce(topic, [message(number) for number in range(6)])
    options = StreamOptions(topic, KafkaAccess(kafka.bootstrap), gate=False, grace=0.5)

    class Stop(StreamWatcher):
        def queued(self, pairs: int) -> None:
            loop.stopping.set()

    with slow_stream(options, store_url, judge_settings, Stop(), speed=0.01) as loop:
        loop.run()
    assert rows_of(store_url, "verdicts") == []
    assert [row["next_offset"] for row in rows_of(store_url, "ledger")] == [0]
    assert stream(kafka, topic).tally.judged == 6
    check_every_offset_has_one_outcome(store_url, ends(kafka, topic), {})
