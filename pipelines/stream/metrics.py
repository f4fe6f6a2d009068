"""The stream's figures for Prometheus, served by the process that runs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from excam.fault import UserError
from pipelines.stream.watch import BatchDone, StreamWatcher

SECONDS = (1, 2, 5, 10, 15, 20, 30, 45, 60, 120, 300, 900, 3600)


class Metrics(StreamWatcher):
    """Everything an operator alarms on. Labels are the topic and, for lag, the partition; never anything logged."""

    def __init__(self, topic: str) -> None:
        from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

        self.registry = CollectorRegistry()

        def make(kind: Any, name: str, told: str, *labels: str, **more: Any) -> Any:
            return kind(f"excam_stream_{name}", told, ("topic", *labels), registry=self.registry, **more)

        self._topic = topic
        self._lag = make(Gauge, "lag_messages", "Messages without an outcome in the store.", "partition")
        self._lag_seconds = make(Gauge, "lag_seconds", "Age of the last settled message while behind.", "partition")
        self._rate = make(Gauge, "pairs_per_second", "Pairs judged a second in the last batch.").labels(topic)
        self._latency = make(Histogram, "log_to_verdict_seconds", "From log time to verdict.", buckets=SECONDS)
        self._latency = self._latency.labels(topic)
        self._p50 = make(Gauge, "log_to_verdict_p50_seconds", "Median of the last batch.").labels(topic)
        self._p95 = make(Gauge, "log_to_verdict_p95_seconds", "95th percentile of the last batch.").labels(topic)
        self._pairs = make(Counter, "pairs", "Records by what became of them.", "outcome")
        self._messages = make(Counter, "messages", "Messages settled.").labels(topic)
        self._lost = make(Counter, "lost_offsets", "Offsets that retention deleted unread.").labels(topic)
        self._retries = make(Counter, "judge_retries", "Calls to the judge that were repeated.").labels(topic)
        self._troubles = make(Counter, "troubles", "Times the stream had to begin a batch again.").labels(topic)
        self._skewed = make(Counter, "skewed_clocks", "Pairs logged in the future.").labels(topic)
        self._queue = make(Gauge, "judge_queue_pairs", "Pairs with the judge or waiting for it.").labels(topic)

    def serve(self, host: str, port: int) -> Any:
        """Answer on this address; the server and its thread, for whoever stops it."""
        from prometheus_client import start_http_server

        try:
            return start_http_server(port, addr=host, registry=self.registry)
        except OSError as error:
            raise UserError(f"metrics cannot be served on {host}:{port}: {error.strerror}", "choose a port") from error

    def started(self, source: str, positions: Mapping[int, int]) -> None:
        for part in positions:
            self._lag.labels(self._topic, part).set(0)

    def settled(self, done: BatchDone) -> None:
        for part, lag in done.lags.items():
            self._lag.labels(self._topic, part).set(lag.messages)
            self._lag_seconds.labels(self._topic, part).set(lag.seconds)
        tally = done.tally
        counts = {
            "judged": tally.judged,
            "errors": tally.errors,
            "not_applicable": tally.not_applicable,
            "reused": tally.reused,
            "dead_letter": tally.dead_letters,
            "skipped": tally.skipped,
        }
        for outcome, count in counts.items():
            self._pairs.labels(self._topic, outcome).inc(count)
        self._rate.set(tally.judged / max(done.seconds, 0.001))
        self._messages.inc(done.messages)
        self._lost.inc(done.lost)
        self._retries.inc(tally.retries)
        self._skewed.inc(done.skewed)
        for age in done.latencies:
            self._latency.observe(age)
        for gauge, share in ((self._p50, 50), (self._p95, 95)):
            value = done.percentile(share)
            if value is not None:
                gauge.set(value)

    def queued(self, pairs: int) -> None:
        self._queue.set(pairs)

    def trouble(self, error: BaseException, pause: float) -> None:
        self._troubles.inc()
