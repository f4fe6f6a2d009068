"""What a stream tells whoever watches: a terminal, Prometheus, or the store itself for ``excam stream status``."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import reduce
from operator import add
from typing import Any

import numpy as np

from excam.store import OffsetRange
from excam.store.offsets import LOST
from pipelines.progress import Silence, Tally
from pipelines.stream.screener import PartCount
from pipelines.stream.stages import JudgedUnit
from pipelines.stream.topic import Bounds


@dataclass(frozen=True)
class PartLag:
    """How far behind a partition is: in messages, and in seconds since the last settled message was logged."""

    messages: int
    seconds: float


@dataclass(frozen=True)
class BatchDone:
    """What one micro-batch came to. ``latencies`` are seconds from log time to verdict; a log time in the future is 0
    and counted as skewed."""

    tally: Tally
    messages: int
    lost: int
    seconds: float
    latencies: list[float]
    skewed: int
    lags: dict[int, PartLag]

    @classmethod
    def of(
        cls,
        units: Sequence[JudgedUnit],
        ranges: Sequence[OffsetRange],
        parts: Mapping[int, PartCount],
        bounds: Mapping[int, Bounds],
        seconds: float,
    ) -> BatchDone:
        now = time.time()
        ages = [now - moment for unit in units for moment in unit.logged_at]
        ends = {one.part: one.next_offset for one in ranges}
        lags = {}
        for part, count in parts.items():
            behind = max(0, bounds[part].high - ends.get(part, bounds[part].high))
            age = max(0.0, now - (count.last_timestamp or now * 1000) / 1000)
            lags[part] = PartLag(behind, round(age, 3) if behind else 0.0)
        skipped = sum(count.skipped for count in parts.values())
        return cls(
            tally=reduce(add, (unit.tally for unit in units), Tally(rows=skipped, skipped=skipped)),
            messages=sum(count.messages for count in parts.values()),
            lost=sum(one.next_offset - one.first_offset for one in ranges if one.kind == LOST),
            seconds=seconds,
            latencies=[max(0.0, age) for age in ages],
            skewed=sum(age < 0 for age in ages),
            lags=lags,
        )

    def later(self, seconds: float) -> BatchDone:
        """The same batch after a commit that took so long: only then is a verdict there for anybody to see."""
        return replace(self, latencies=[age + seconds for age in self.latencies])

    def percentile(self, share: float) -> float | None:
        return float(np.percentile(self.latencies, share)) if self.latencies else None

    def note(self, part: int) -> str:
        """What the ledger keeps of the last batch beside the partition's offset."""
        told: dict[str, Any] = asdict(self.lags[part]) if part in self.lags else {}
        told |= {"pairs_per_second": round(self.tally.judged / max(self.seconds, 0.001), 3)}
        told |= {"p50": _rounded(self.percentile(50)), "p95": _rounded(self.percentile(95))}
        told |= {"retries": self.tally.retries, "dead_letters": self.tally.dead_letters}
        return json.dumps(told)


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 3)


class StreamWatcher(Silence):
    """Told what a stream is doing; a watcher overrides what it cares for."""

    def started(self, source: str, positions: Mapping[int, int]) -> None:
        """The stream takes up the topic at these offsets."""

    def settled(self, done: BatchDone) -> None:
        """A batch is in the store."""

    def idle(self) -> None:
        """There is nothing new in the topic."""

    def queued(self, pairs: int) -> None:
        """So many pairs are with the judge or wait for it."""

    def trouble(self, error: BaseException, pause: float) -> None:
        """Brokers, registry or a worker are unwell; the stream tries again after a pause."""

    def recovered(self) -> None:
        """The trouble is over."""
