"""What tests do with a running cluster: make topics, write to them, and see what is there."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from confluent_kafka import Consumer, KafkaError, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic  # type: ignore[attr-defined]  # its stubs are incomplete

from tests.kafka.broker import Broker

PATIENCE_SECONDS = 180.0


@dataclass
class Kafka:
    """A running cluster and the few things tests do with it."""

    brokers: list[Broker]
    client: dict[str, Any] = field(default_factory=dict)

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{broker.port}" for broker in self.brokers)

    @property
    def config(self) -> dict[str, Any]:
        # Loopback needs no patience between attempts.
        quick = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 200, "log_level": 2}
        return {"bootstrap.servers": self.bootstrap} | quick | self.client

    def admin(self) -> AdminClient:
        return AdminClient(self.config)

    def topic(self, partitions: int = 1, config: Mapping[str, str] | None = None, name: str = "") -> str:
        """A new topic with a name of its own, replicated to every broker."""
        name = name or f"logs-{secrets.token_hex(4)}"
        new = NewTopic(name, partitions, len(self.brokers), config=dict(config or {}))
        admin = self.admin()  # held until the answer is there: without it the question is dropped
        admin.create_topics([new])[name].result(30)
        self._wait_for_partitions(name, partitions)
        return name

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions."""
        admin = self.admin()
        admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(30)
        self._wait_for_partitions(topic, partitions)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        admin = self.admin()
        admin.delete_topics([topic])[topic].result(30)
        self._wait_for_partitions(topic, 0)

    def _wait_for_partitions(self, topic: str, count: int) -> None:
        """Until every broker knows what the controller has decided: the controller's answer comes before that."""
        for broker in self.brokers:
            admin = AdminClient(self.config | {"bootstrap.servers": f"127.0.0.1:{broker.port}"})
            deadline = time.monotonic() + PATIENCE_SECONDS
            while True:
                found = admin.list_topics(timeout=PATIENCE_SECONDS).topics.get(topic)
                if (len(found.partitions) if found else 0) == count:
                    break
                assert time.monotonic() < deadline, f"{topic} has {found} and not {count} partitions"
                time.sleep(0.05)

    def produce(
        self,
        topic: str,
        values: Sequence[bytes | str | None],
        *,
        partition: Callable[[int], int] = lambda number: 0,
        **config: Any,
    ) -> None:
        """Write values, each to the partition named for its number; keyword arguments set librdkafka's options."""
        options = {name.replace("_", "."): value for name, value in config.items()}
        producer = Producer(self.config | {"message.max.bytes": 10_000_000, "linger.ms": 5} | options)
        lost: list[KafkaError] = []
        for number, value in enumerate(values):
            while True:
                try:
                    producer.produce(
                        topic,
                        value,
                        partition=partition(number),
                        on_delivery=lambda error, _: lost.append(error) if error else None,
                    )
                    break
                except BufferError:
                    producer.poll(0.05)
        assert producer.flush(30) == 0
        assert not lost, lost

    def compacted_topic(self, first: bytes, last: bytes, gap: int) -> str:
        """A topic that the broker has really compacted: ``first``, then so many offsets that are gone, then ``last``.

        Every message of the gap had the key of ``last``. Compaction leaves the newest segment alone, so a message from
        an hour later begins a new one; its value is None, a tombstone.
        """
        name = self.topic(
            config={"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "60000"}
        )
        producer = Producer(self.config)
        begun = int(time.time() * 1000) - 7_200_000
        for key, value in [(b"first", first), *[(b"same", b"old")] * gap, (b"same", last)]:
            producer.produce(name, value, key=key, partition=0, timestamp=begun)
        assert producer.flush(30) == 0
        producer.produce(name, None, key=b"new segment", partition=0, timestamp=begun + 3_600_000)
        assert producer.flush(30) == 0
        deadline = time.monotonic() + PATIENCE_SECONDS
        while (found := self.offsets(name)) != [0, gap + 1, gap + 2]:
            assert time.monotonic() < deadline, f"not compacted: {len(found)} messages are left"
            time.sleep(0.1)
        return name

    def offsets(self, topic: str) -> list[int]:
        """Every offset of partition 0 that a reader gets."""
        consumer = Consumer(self.config | {"group.id": "offsets", "enable.partition.eof": True})
        consumer.assign([TopicPartition(topic, 0, 0)])
        found: list[int] = []
        while (message := consumer.poll(10)) is not None and message.error() is None:
            found.append(message.offset() or 0)
        consumer.close()
        return found

    def transaction(self, topic: str, values: Sequence[bytes | str], *, commit: bool) -> None:
        """One transaction on partition 0, committed or aborted."""
        producer = Producer(self.config | {"transactional.id": secrets.token_hex(6)})
        producer.init_transactions(30)
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, value, key=secrets.token_bytes(4), partition=0)
        producer.flush(30)
        producer.commit_transaction(30) if commit else producer.abort_transaction(30)
