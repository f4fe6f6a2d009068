"""Does a stream keep up, and what does it cost against a batch? On a real broker, with the same judge for both.

First the same pairs go through the batch pipeline and through a topic: ``ratio R`` is stream over batch, in pairs a
second from the first commit to the last, so that start-up is left out of both. Then pairs are produced steadily at 80 %
of what the stream just did: its lag must not grow, and the 95th percentile from log time to verdict is printed.

    python -m bench.stream --pairs 600 --minutes 3 --base smollm2-135m
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from bench.overhead import settings_of
from bench.pairs import bench_pairs, pair_table
from pipelines.batch import ScoreOptions, score_logs
from pipelines.stream.produce import produce
from pipelines.stream.run import stream_topic
from pipelines.stream.settings import KafkaAccess, StreamOptions
from pipelines.stream.watch import BatchDone, StreamWatcher
from tests.kafka import Kafka, running_kafka

WARM_UP = 64
BAR = 0.9


class Record(StreamWatcher):
    """Keeps what every batch came to, and when; stops the stream once so many pairs are judged."""

    def __init__(self, pairs: int) -> None:
        self.left = pairs
        self.batches: list[tuple[float, BatchDone]] = []

    def settled(self, done: BatchDone) -> None:
        self.batches.append((time.monotonic(), done))
        self.left -= done.tally.rows
        if self.left <= 0:
            os.kill(os.getpid(), signal.SIGTERM)

    def rate(self) -> float:
        """Pairs a second from the first commit to the last."""
        first, last = self.batches[0][0], self.batches[-1][0]
        return sum(done.tally.judged for _, done in self.batches[1:]) / max(last - first, 0.001)


def batch_rate(folder: str, settings: Any, pairs: list[tuple[str, str]]) -> float:
    store = f"ducklake:sqlite:{folder}/batch/catalog.sqlite"
    for name, some in (("warm", pairs[:WARM_UP]), ("measured", pairs[WARM_UP:])):
        pq.write_table(pair_table(some, name), f"{folder}/{name}.parquet")
        scored = score_logs([f"{folder}/{name}.parquet"], store, settings, ScoreOptions(gate=False))
    return scored.pairs_per_second


def options_of(kafka: Kafka, topic: str, latency: float) -> StreamOptions:
    return StreamOptions(topic, KafkaAccess(kafka.bootstrap), gate=False, max_latency=latency)


def stream_rate(folder: str, settings: Any, kafka: Kafka, latency: float, pairs: int) -> float:
    """The measured pairs through a topic, behind the warm-up's."""
    topic = kafka.topic(2)
    access = KafkaAccess(kafka.bootstrap)
    for name in ("warm", "measured"):
        produce(f"{folder}/{name}.parquet", topic, access)
    record = Record(pairs)
    stream_topic(options_of(kafka, topic, latency), f"ducklake:sqlite:{folder}/topic/c.sqlite", settings, record)
    return record.rate()


def steady(
    folder: str, settings: Any, kafka: Kafka, latency: float, rate: float, minutes: float, pairs: list[tuple[str, str]]
) -> Record:
    """Produce at this rate and judge meanwhile."""
    topic = kafka.topic(2)
    log = f"{folder}/steady.parquet"
    pq.write_table(pair_table(pairs, "steady"), log)
    access = KafkaAccess(kafka.bootstrap)
    record = Record(len(pairs))

    class StartedRecord(StreamWatcher):
        """Begins to produce when the stream is up, so that its start is not counted as lag."""

        def started(self, source: str, positions: Any) -> None:
            arguments = {"rate": rate, "restamp": "logged_at"}
            threading.Thread(target=produce, args=(log, topic, access), kwargs=arguments, daemon=True).start()

        def settled(self, done: BatchDone) -> None:
            record.settled(done)

    store = f"ducklake:sqlite:{folder}/steady/c.sqlite"
    stream_topic(options_of(kafka, topic, latency), store, settings, StartedRecord())
    return record


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=600)
    parser.add_argument("--minutes", type=float, default=3.0)
    parser.add_argument("--max-latency", type=float, default=30.0)
    parser.add_argument("--base", default="smollm2-135m")
    parser.add_argument("--adapter", default="none")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    settings = settings_of(arguments)
    with tempfile.TemporaryDirectory() as folder, running_kafka() as kafka:
        pairs = bench_pairs(arguments.pairs + WARM_UP)
        batch = batch_rate(folder, settings, pairs)
        print(f"batch    {batch:8.2f} pairs/s", flush=True)
        stream = stream_rate(folder, settings, kafka, arguments.max_latency, len(pairs))
        print(f"stream   {stream:8.2f} pairs/s", flush=True)
        rate = 0.8 * stream
        flow = bench_pairs(int(rate * 60 * arguments.minutes), seed=11)
        record = steady(folder, settings, kafka, arguments.max_latency, rate, arguments.minutes, flow)
    figures = steady_figures(record) | {"batch": batch, "stream": stream, "ratio": stream / batch, "rate": rate}
    print(f"steady   {rate:8.2f} messages/s for {arguments.minutes:g} min, {len(record.batches)} batches")
    print(f"lag      {figures['lag_middle']:.0f} messages in the middle third, {figures['lag_end']:.0f} in the last")
    print(f"log to verdict  P50 {figures['p50']:.1f} s, P95 {figures['p95']:.1f} s")
    if arguments.json:
        arguments.json.write_text(json.dumps(figures))
    print(f"ratio {figures['ratio']:.3f} (bar {BAR})")


def steady_figures(record: Record) -> dict[str, float]:
    """Lag by thirds of the time, and how long verdicts took. The batches after the last message are its tail."""
    begun, over = record.batches[0][0], record.batches[-1][0]
    third = (over - begun) / 3
    lags = [(when, sum(lag.messages for lag in done.lags.values())) for when, done in record.batches]
    middle = [lag for when, lag in lags if begun + third <= when < begun + 2 * third]
    last = [lag for when, lag in lags if when >= begun + 2 * third]
    ages = [age for _, done in record.batches for age in done.latencies]
    return {
        "lag_middle": float(np.mean(middle or [0])),
        "lag_end": float(np.mean(last or [0])),
        "p50": float(np.percentile(ages, 50)),
        "p95": float(np.percentile(ages, 95)),
    }


if __name__ == "__main__":
    main()
