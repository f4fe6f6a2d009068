"""What the brokers say of a topic: its identity, its partitions, where each begins and ends, and what can be seen."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime
from types import TracebackType
from typing import Any

from confluent_kafka import (
    OFFSET_INVALID,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient, OffsetSpec  # type: ignore[attr-defined]

from excam.fault import UserError
from pipelines.stream.settings import ISOLATION, KafkaAccess, Position

PATIENCE = 15.0
EARLIEST: Any = OffsetSpec.earliest()  # type: ignore[no-untyped-call]
LATEST: Any = OffsetSpec.latest()  # type: ignore[no-untyped-call]

# What no waiting mends: the caller is not allowed in. Everything else a broker may recover from.
REFUSED = (
    KafkaError._AUTHENTICATION,
    KafkaError.SASL_AUTHENTICATION_FAILED,
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError._INVALID_ARG,
)


def refused(error: KafkaException) -> bool:
    """Whether the brokers turned us away, as opposed to being away."""
    cause = error.args[0] if error.args else None
    return isinstance(cause, KafkaError) and cause.code() in REFUSED


@dataclass(frozen=True)
class Bounds:
    """What a partition holds now: the first offset that retention left, and the end of what is committed."""

    low: int
    high: int


class Topic:
    """One topic on its brokers. Calls raise KafkaException while these are away; the caller decides how long to wait.

    ``source`` is the name by which the store knows it. It holds the topic's own id, so a topic that was deleted and
    made again under the same name, or one of that name elsewhere, is another source.
    """

    def __init__(self, name: str, access: KafkaAccess, group: str) -> None:
        self.name = name
        self._refusal: KafkaError | None = None
        self._admin = AdminClient(access.client() | {"error_cb": self._heard})
        silent = {"enable.partition.eof": True, "auto.offset.reset": "error", "queued.max.messages.kbytes": 1024}
        self._looker = Consumer(access.client(group_id=f"{group}-looker") | ISOLATION | silent)
        self._mirror = Consumer(access.client(group_id=group) | ISOLATION)
        self._id = self._topic_id()
        self.source = f"kafka:{name}#{self._id}"

    def close(self) -> None:
        self._looker.close()
        self._mirror.close()

    def __enter__(self) -> Topic:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _topic_id(self) -> str:
        asked = self._described()
        while not asked.done() and self._refusal is None:
            self._admin.poll(0.1)  # calls back when a broker turns us away, which the client itself would try for long
        try:
            if self._refusal is not None:
                raise KafkaException(self._refusal)
            return str(asked.result(2 * PATIENCE).topic_id)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                fix = "check the name and the brokers; ExCAM never makes the topic it reads"
                raise UserError(f"there is no topic {self.name}", fix) from error
            reason = error.args[0].str()
            fix = "check --bootstrap, the network, and the settings for SASL and TLS"
            raise UserError(f"the brokers cannot be asked for topic {self.name}: {reason}", fix) from error

    def _described(self) -> Future[Any]:
        return self._admin.describe_topics(TopicCollection([self.name]), request_timeout=PATIENCE)[self.name]

    def _heard(self, error: KafkaError) -> None:
        if error.code() in REFUSED:
            self._refusal = error

    def check(self) -> None:
        """Raise when another topic has this name now than the one that ``source`` names."""
        if str(self._described().result(2 * PATIENCE).topic_id) != self._id:
            fix = "start the stream again: the new topic is another source, which begins at --from"
            raise UserError(f"topic {self.name} was deleted and made again", fix)

    def partitions(self) -> list[int]:
        found = self._admin.list_topics(self.name, timeout=PATIENCE).topics[self.name]
        if found.error is not None:
            raise KafkaException(found.error)
        return sorted(found.partitions)

    def bounds(self) -> dict[int, Bounds]:
        """Beginning and end of every partition; what lies in open transactions is beyond the end."""
        parts = self.partitions()
        lows, highs = (self._offsets(parts, spec) for spec in (EARLIEST, LATEST))
        self.check()
        return {part: Bounds(lows[part], highs[part]) for part in parts}

    def _offsets(self, parts: list[int], spec: Any) -> dict[int, int]:
        asked = {TopicPartition(self.name, part): spec for part in parts}
        level = IsolationLevel.READ_COMMITTED
        found = self._admin.list_offsets(asked, isolation_level=level, request_timeout=PATIENCE)
        return {place.partition: answer.result(2 * PATIENCE).offset for place, answer in found.items()}

    def positions(self, start: Position, bounds: Mapping[int, Bounds]) -> dict[int, int]:
        """The offsets a start position stands for."""
        if start == "earliest":
            return {part: bound.low for part, bound in bounds.items()}
        if isinstance(start, datetime):
            moment = int(start.timestamp() * 1000)
            asked = [TopicPartition(self.name, part, moment) for part in bounds]
            found = {place.partition: place.offset for place in self._looker.offsets_for_times(asked, PATIENCE)}
            return {part: found[part] if found[part] >= 0 else bound.high for part, bound in bounds.items()}
        return {part: bound.high for part, bound in bounds.items()}

    def visible_ends(self, ranges: Mapping[int, tuple[int, int]]) -> dict[int, int]:
        """For each range of offsets, one past its last message that a reader will get; its start if there is none.

        Transaction markers, aborted messages and compacted offsets are never delivered, and a bounded read that ends
        on one waits for ever. So the reader is told to stop at the last message it will see. Nearly always that is
        the last offset; if not, we look further back in growing steps.
        """
        ends = {part: start for part, (start, _) in ranges.items()}
        left = {part: (start, end) for part, (start, end) in ranges.items() if start < end}
        back = 1
        while left:
            starts = {part: max(start, end - back) for part, (start, end) in left.items()}
            seen = self._last_seen(starts, {part: end for part, (_, end) in left.items()})
            for part, (start, _) in list(left.items()):
                last = seen[part]
                if last is not None:
                    ends[part] = last + 1
                if last is not None or starts[part] == start:
                    del left[part]
            back *= 16
        return ends

    def _last_seen(self, starts: Mapping[int, int], ends: Mapping[int, int]) -> dict[int, int | None]:
        last: dict[int, int | None] = dict.fromkeys(starts)
        waiting = set(starts)
        self._looker.assign([TopicPartition(self.name, part, offset) for part, offset in starts.items()])
        try:
            while waiting:
                message = self._looker.poll(PATIENCE)
                if message is None:
                    raise KafkaException(KafkaError(KafkaError._TIMED_OUT, "no answer to a fetch"))
                part = message.partition()
                error = message.error()
                if error is not None and error.code() != KafkaError._PARTITION_EOF:
                    raise KafkaException(error)
                offset = message.offset()
                assert part is not None
                assert offset is not None
                if error is None and offset < ends[part]:
                    last[part] = offset
                if error is not None or offset >= ends[part] - 1:
                    waiting.discard(part)
        finally:
            self._looker.unassign()
        return last

    def mirror(self, positions: Mapping[int, int]) -> None:
        """Commit the offsets to the consumer group, where lag monitors look; the store goes by its own."""
        offsets = [TopicPartition(self.name, part, offset) for part, offset in positions.items()]
        self._mirror.commit(offsets=offsets, asynchronous=False)

    def mirrored(self) -> dict[int, int]:
        """What the consumer group says; partitions it knows nothing of are left out."""
        asked = [TopicPartition(self.name, part) for part in self.partitions()]
        found = self._mirror.committed(asked, timeout=PATIENCE)
        return {place.partition: place.offset for place in found if place.offset != OFFSET_INVALID}
