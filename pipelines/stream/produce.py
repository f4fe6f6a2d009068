"""``excam produce``: a Parquet log as Kafka messages at a chosen rate, for trials and load tests."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from confluent_kafka import KafkaError, KafkaException, Message, Producer

from excam.fault import UserError
from pipelines.files import find_logs
from pipelines.log_file import LogFile, inspect
from pipelines.read import read_units, record_json
from pipelines.stream.settings import KafkaAccess
from pipelines.units import UNIT_ROWS, Sampling, sections_of


def records_of(place: str) -> Iterator[dict[str, Any]]:
    """Every record of the Parquet files at a place, in order."""
    for uri in find_logs([place]):
        file = inspect(uri)
        if not isinstance(file, LogFile):
            raise UserError(f"{uri}: {file.reason}", "name a Parquet log")
        for section in sections_of(file, "", UNIT_ROWS, set(), Sampling()):
            for unit in read_units(section):
                if unit.broken:
                    raise UserError(f"{uri}, rows from {unit.first_row} cannot be read: {unit.broken}", "mend the file")
                yield from unit.records


def produce(
    place: str,
    topic: str,
    access: KafkaAccess,
    *,
    rate: float | None = None,
    compression: str = "none",
    restamp: str | None = None,
    sent: Callable[[int], None] = lambda count: None,
) -> int:
    """Send every record as one JSON message, ``rate`` of them a second; how many were acknowledged.

    Messages are keyed by their id where they have one, so that a pair keeps its partition. ``restamp`` names a column
    that gets the moment of sending, so that an old log looks like live traffic.
    """
    failed: list[KafkaError] = []

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is not None:
            failed.append(error)

    options = {"compression.type": compression, "linger.ms": 20, "enable.idempotence": True}
    producer = Producer(access.client() | options | {"message.max.bytes": 50_000_000})
    begun = time.monotonic()
    count = 0
    for record in records_of(place):
        if rate:
            _wait(begun + count / rate, producer)
        if restamp:
            record = record | {restamp: datetime.now(UTC).isoformat()}
        key = str(record.get("pair_id") or record.get("id") or "") or None
        while True:
            try:
                producer.produce(topic, record_json(record).encode(), key=key, on_delivery=delivered)
                break
            except BufferError:
                producer.poll(0.1)
        producer.poll(0)
        count += 1
        sent(count)
        if failed:
            raise KafkaException(failed[0])
    if producer.flush(60) or failed:
        raise KafkaException(failed[0] if failed else KafkaError(KafkaError._TIMED_OUT, "not acknowledged"))
    return count


def _wait(moment: float, producer: Producer) -> None:
    while (left := moment - time.monotonic()) > 0:
        producer.poll(min(left, 0.1))
