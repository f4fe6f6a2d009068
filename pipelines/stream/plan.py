"""Decide what the next micro-batch is: which offsets of which partitions, and what retention took before we came."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from excam.fault import UserError
from excam.store import OffsetRange
from excam.store.offsets import LOST, START
from pipelines.stream.settings import Position
from pipelines.stream.topic import Bounds, Topic

READ_AND_COMMIT = 3.0  # seconds a batch takes besides being judged
SMALLEST, FIRST = 32, 256
BATCH_BYTES = 64 * 2**20


class TopicTruncatedError(UserError):
    """The topic ends before the offset up to which it was read. Right after a change of leaders that may pass."""

    def __init__(self, topic: str, part: int, position: int, end: int) -> None:
        super().__init__(
            f"{topic}, partition {part}: the store stands at offset {position}, the topic ends at {end}",
            "the brokers lost messages; read the partition again with: --from earliest --rewind",
        )


@dataclass(frozen=True)
class PlannedRange:
    """Offsets of one partition to settle: ``start`` to ``end``, the last message among them before ``visible``."""

    part: int
    start: int
    end: int
    visible: int

    def settled(self, last: int | None) -> int:
        """Where the partition goes on after a read whose last message was at ``last``."""
        reached = self.start if last is None else last + 1
        return self.end if reached >= self.visible else reached


@dataclass(frozen=True)
class BatchPlan:
    """One micro-batch. ``moved`` are positions that change without a read: partitions that begin, offsets lost.

    ``positions`` is where every partition stands before it.
    """

    ranges: list[PlannedRange]
    moved: list[OffsetRange]
    positions: dict[int, int]


@dataclass
class BatchSize:
    """How many messages to take at once: as many as the judge settles in a third of the latency that is allowed.

    A message waits while the batch before it is read, then while that one is judged, then for its own.
    """

    max_batch: int
    max_latency: float
    rate: float | None = None
    bytes_each: float = 0.0

    @property
    def messages(self) -> int:
        wanted = FIRST
        if self.rate is not None:
            wanted = max(SMALLEST, int(self.rate * max(1.0, (self.max_latency - READ_AND_COMMIT) / 3)))
        if self.bytes_each:
            wanted = min(wanted, max(1, int(BATCH_BYTES / self.bytes_each)))
        return max(1, min(wanted, self.max_batch))

    def learn(self, messages: int, size: int, seconds: float) -> None:
        """A batch of this many messages and bytes kept the judge busy for so long."""
        if not messages:
            return
        rate, each = messages / max(seconds, 0.05), size / messages
        self.rate = rate if self.rate is None else 0.6 * self.rate + 0.4 * rate
        self.bytes_each = max(each, 0.6 * self.bytes_each + 0.4 * each)


@dataclass
class Planner:
    """Plans batches one after the other; ``positions`` runs ahead of the store by the batches in hand.

    ``bounds`` is what the topic held when it was last asked.
    """

    topic: Topic
    size: BatchSize
    positions: dict[int, int] = field(default_factory=dict)
    bounds: dict[int, Bounds] = field(default_factory=dict)

    def begin(self, stored: Mapping[int, int], start: Position, *, rewind: bool) -> list[OffsetRange]:
        """Take up the stored positions; a topic the store does not know begins at ``start``, which must be stored at
        once, so that *latest* means the same moment after a crash. Partitions that were added to one it knows begin at
        their start, as they do while a stream runs: nobody has read them yet."""
        bounds = self.topic.bounds()
        fresh = {part: bound for part, bound in bounds.items() if rewind or part not in stored}
        begun = self.topic.positions(start if rewind or not stored else "earliest", fresh) if fresh else {}
        self.positions = dict(stored) | begun
        return [self._start(part, offset) for part, offset in begun.items()]

    def _start(self, part: int, offset: int) -> OffsetRange:
        return OffsetRange(self.topic.source, part, offset, offset, kind=START)

    def next(self) -> BatchPlan | None:
        """The next micro-batch, or None while there is nothing new. Partitions that appeared begin at their start."""
        bounds = self.bounds = self.topic.bounds()
        begun = [self._start(part, bound.low) for part, bound in bounds.items() if part not in self.positions]
        before = {part: self.positions.get(part, bound.low) for part, bound in bounds.items()}
        lost = []
        for part, bound in bounds.items():
            if before[part] < bound.low:
                lost.append(OffsetRange(self.topic.source, part, before[part], bound.low, kind=LOST))
            if before[part] > bound.high:
                raise TopicTruncatedError(self.topic.name, part, before[part], bound.high)
        starts = {part: max(before[part], bound.low) for part, bound in bounds.items()}
        taken = _share_out(self.size.messages, {part: bounds[part].high - start for part, start in starts.items()})
        wanted = {part: (starts[part], starts[part] + count) for part, count in taken.items() if count}
        if not wanted and not lost and not begun:
            return None
        visible = self.topic.visible_ends(wanted)
        ranges = [PlannedRange(part, start, end, visible[part]) for part, (start, end) in wanted.items()]
        return BatchPlan(ranges, [*begun, *lost], starts)

    def recount(self, plan: BatchPlan, firsts: Mapping[int, int | None]) -> BatchPlan:
        """The plan with what retention deleted between planning and reading moved to the losses.

        Ray Data then begins at the first offset that is left and says nothing. So where the ``first`` message that came
        is not the one asked for, the topic is asked again: below its beginning there is loss, above it a mere gap. It
        is asked in any case whether it is still the one that was planned for: else what came is another topic's.
        """
        late = [one for one in plan.ranges if one.start < one.visible and firsts[one.part] != one.start]
        if not late:
            self.topic.check()
            return plan
        bounds = self.topic.bounds()
        ranges = {one.part: one for one in plan.ranges}
        lost = []
        for one in late:
            first = firsts[one.part]
            cut = min(bounds[one.part].low, one.end if first is None else first)
            if cut > one.start:
                lost.append(OffsetRange(self.topic.source, one.part, one.start, cut, kind=LOST))
                ranges[one.part] = replace(one, start=cut, visible=max(cut, one.visible))
        return replace(plan, ranges=list(ranges.values()), moved=[*plan.moved, *lost])


def _share_out(total: int, backlog: Mapping[int, int]) -> dict[int, int]:
    """Give every partition its fair part, and what small ones leave to the larger ones."""
    taken, left = {}, total
    waiting = sorted((part for part in backlog if backlog[part] > 0), key=lambda part: backlog[part])
    for number, part in enumerate(waiting):
        taken[part] = min(backlog[part], max(1, left // (len(waiting) - number)))
        left = max(0, left - taken[part])
    return taken
