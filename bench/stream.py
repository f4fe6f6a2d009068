"""Does a stream keep up, and what does it cost against a batch? On a real broker, with the same judge for both.

First as many pairs of the same make go through the batch pipeline and through a topic: ``ratio R`` is stream over
batch, in pairs a second from the first pair judged to the last commit; start-up is left out of both. They are not the
very same pairs: those the engine's prefix cache would remember. Then pairs are produced steadily at 80 % of what the
stream just did. Every few seconds the lag is taken, messages sent less messages settled: it must not grow. The time
from log to verdict ends with the commit after which anybody can see it.

    python -m bench.stream --pairs 600 --minutes 3 --base smollm2-135m
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import signal
import tempfile
import threading
import time
from array import array
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from bench.judge import add_judge_options, settings_of
from bench.pairs import bench_pairs, pair_table
from pipelines.batch import ScoreOptions, score_logs
from pipelines.stream.produce import produce
from pipelines.stream.run import stream_topic
from pipelines.stream.settings import KafkaAccess, StreamOptions
from pipelines.stream.watch import BatchDone, StreamWatcher
from tests.kafka import Kafka, running_kafka

WARM_UP = 64
BAR = 0.9
LATENCY = 30.0
SAMPLE_SECONDS = 5.0


class Record(StreamWatcher):
    """Keeps, in little memory, what every batch came to; stops the stream once so many pairs are settled."""

    def __init__(self, pairs: int) -> None:
        self.pairs = pairs
        self.settled_pairs = 0
        self.begun: float | None = None
        self.batches: list[tuple[float, int]] = []
        self.ages = array("f")

    def queued(self, pairs: int) -> None:
        self.begun = self.begun or time.monotonic()

    def settled(self, done: BatchDone) -> None:
        self.batches.append((time.monotonic(), done.tally.judged))
        self.ages.extend(done.latencies)
        self.settled_pairs += done.tally.rows
        if self.settled_pairs >= self.pairs:
            os.kill(os.getpid(), signal.SIGTERM)

    def rate(self) -> float:
        """Pairs a second from the first batch with the judge to the last commit."""
        assert self.begun is not None
        return sum(judged for _, judged in self.batches) / (self.batches[-1][0] - self.begun)


def _write(log: str, pairs: int, seed: int) -> None:
    pq.write_table(pair_table(bench_pairs(pairs, seed=seed), "steady"), log)


def _send(log: str, topic: str, bootstrap: str, rate: float, sent: Any) -> None:
    def count(number: int) -> None:
        sent.value = number

    produce(log, topic, KafkaAccess(bootstrap), rate=rate, restamp="logged_at", sent=count)


class Steady(Record):
    """Begins to produce when the stream is up, so that its start is not counted as lag, and samples the lag.

    The log and its messages come from processes of their own, as they do in life: what they take is not the stream's.
    """

    def __init__(self, log: str, topic: str, bootstrap: str, rate: float, pairs: int, seed: int) -> None:
        super().__init__(pairs)
        self.lags: list[tuple[float, int]] = []
        spawn = multiprocessing.get_context("spawn")
        with spawn.Pool(1) as writer:
            writer.apply(_write, (log, pairs, seed))
        self._sent = spawn.Value("q", 0)
        self._producer = spawn.Process(target=_send, args=(log, topic, bootstrap, rate, self._sent), daemon=True)

    @property
    def sent(self) -> int:
        """Messages sent so far."""
        return int(self._sent.value)

    def started(self, source: str, positions: Mapping[int, int]) -> None:
        self._producer.start()
        threading.Thread(target=self._sample, daemon=True).start()

    def _sample(self) -> None:
        begun = time.monotonic()
        while self.sent < self.pairs:
            time.sleep(SAMPLE_SECONDS)
            self.lags.append((time.monotonic() - begun, self.sent - self.settled_pairs))


def batch_rate(folder: str, settings: Any, pairs: list[tuple[str, str]]) -> float:
    store = f"ducklake:sqlite:{folder}/batch/catalog.sqlite"
    for name, some in (("warm", pairs[:WARM_UP]), ("measured", pairs[WARM_UP:])):
        pq.write_table(pair_table(some, name), f"{folder}/{name}.parquet")
        scored = score_logs([f"{folder}/{name}.parquet"], store, settings, ScoreOptions(gate=False))
    return scored.pairs_per_second


def options_of(kafka: Kafka, topic: str, latency: float = LATENCY) -> StreamOptions:
    return StreamOptions(topic, KafkaAccess(kafka.bootstrap), gate=False, max_latency=latency)


def stream_rate(folder: str, settings: Any, kafka: Kafka, pairs: list[tuple[str, str]]) -> float:
    """These pairs through a topic that holds them all from the start; the folder is for log and store."""
    topic = kafka.topic(2)
    Path(folder).mkdir(exist_ok=True)
    log = f"{folder}/topic.parquet"
    pq.write_table(pair_table(pairs, "topic"), log)
    produce(log, topic, KafkaAccess(kafka.bootstrap))
    record = Record(len(pairs))
    stream_topic(options_of(kafka, topic), f"ducklake:sqlite:{folder}/store/catalog.sqlite", settings, record)
    return record.rate()


def steady(folder: str, settings: Any, kafka: Kafka, latency: float, rate: float, minutes: float, seed: int) -> Steady:
    """Produce at this rate for so long and judge meanwhile."""
    topic = kafka.topic(2)
    record = Steady(f"{folder}/steady.parquet", topic, kafka.bootstrap, rate, int(60 * minutes * rate), seed)
    store = f"ducklake:sqlite:{folder}/steady/c.sqlite"
    stream_topic(options_of(kafka, topic, latency), store, settings, record)
    return record


def steady_figures(record: Steady) -> dict[str, Any]:
    """Lag by thirds of the time that was produced in, and how long verdicts took."""
    lags = [lag for _, lag in record.lags]
    third = max(1, len(lags) // 3)
    return {
        "lags": [(round(when, 1), lag) for when, lag in record.lags],
        "lag_middle": float(np.mean(lags[third : 2 * third] or [0])),
        "lag_end": float(np.mean(lags[2 * third :] or [0])),
        "p50": float(np.percentile(record.ages, 50)),
        "p95": float(np.percentile(record.ages, 95)),
        "batches": len(record.batches),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=600)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--max-latency", type=float, default=LATENCY)
    add_judge_options(parser)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    settings = settings_of(arguments)
    with tempfile.TemporaryDirectory() as folder, running_kafka() as kafka:
        pairs = bench_pairs(arguments.pairs + WARM_UP)
        batch = batch_rate(folder, settings, pairs)
        print(f"batch    {batch:8.2f} pairs/s", flush=True)
        others = bench_pairs(arguments.pairs, seed=9)
        stream = stream_rate(f"{folder}/topic", settings, kafka, others)
        print(f"stream   {stream:8.2f} pairs/s", flush=True)
        rate = 0.8 * stream
        record = steady(folder, settings, kafka, arguments.max_latency, rate, arguments.minutes, seed=11)
    figures = steady_figures(record) | {"batch": batch, "stream": stream, "ratio": stream / batch, "rate": rate}
    print(f"steady   {rate:8.2f} messages/s for {arguments.minutes:g} min, {figures['batches']} batches")
    print("lag      " + ", ".join(f"{when:.0f} s: {lag}" for when, lag in figures["lags"][2::3]))
    print(f"         {figures['lag_middle']:.0f} messages in the middle third, {figures['lag_end']:.0f} in the last")
    print(f"log to verdict  P50 {figures['p50']:.1f} s, P95 {figures['p95']:.1f} s")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures))
    print(f"ratio {figures['ratio']:.3f} (bar {BAR})")


if __name__ == "__main__":
    main()
