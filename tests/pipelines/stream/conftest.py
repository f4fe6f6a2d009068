"""What the stream's tests share: one Kafka for all, and one Ray cluster that drivers in other processes may join."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from excam.store import Store
from pipelines.stream.run import Streamed, stream_topic
from pipelines.stream.settings import KafkaAccess, StreamOptions
from pipelines.stream.successor import Successor
from pipelines.stream.topic import Topic
from pipelines.stream.watch import StreamWatcher
from tests.conftest import pair_record
from tests.kafka import Kafka, running_kafka

Run = Callable[..., Streamed]


@pytest.fixture(scope="session")
def kafka() -> Iterator[Kafka]:
    with running_kafka() as cluster:
        yield cluster


@pytest.fixture
def stream(store_url: str, judge_settings: Any) -> Run:
    """Judge what is in a topic now; keyword arguments change the options."""

    def run(
        kafka: Kafka,
        topic: str,
        watcher: StreamWatcher | None = None,
        successor: Successor | None = None,
        **changes: Any,
    ) -> Streamed:
        settings: dict[str, Any] = {"gate": False, "until_caught_up": True, "group": f"group-{topic}"} | changes
        options = StreamOptions(topic, KafkaAccess(kafka.bootstrap, kafka.client), **settings)
        return stream_topic(options, store_url, judge_settings, watcher, successor)

    return run


def message(number: int, **changes: Any) -> bytes:
    """A pair as a JSON message."""
    return json.dumps(pair_record(number, **changes), default=str).encode()


def rows_of(store_url: str, table: str) -> list[dict[str, Any]]:
    """Everything in a table of the store."""
    with Store.open(store_url, read_only=True) as store:
        found: list[dict[str, Any]] = store.query(
            lambda connection: connection.execute(f"FROM lake.{table}").to_arrow_table()
        ).to_pylist()
        return found


def ends(kafka: Kafka, topic: str) -> dict[int, int]:
    """Where every partition ends for a reader."""
    with Topic(topic, KafkaAccess(kafka.bootstrap, kafka.client), "ends") as asked:
        return {part: bound.high for part, bound in asked.bounds().items()}


def check_every_offset_has_one_outcome(store_url: str, ends: dict[int, int], begins: dict[int, int]) -> None:
    """The ranges of all runs together cover every partition from its begin to its end, each offset once."""
    ranges = [row for row in rows_of(store_url, "stream_ranges") if row["next_offset"] > row["first_offset"]]
    for part, end in ends.items():
        position = begins.get(part, 0)
        for row in sorted((row for row in ranges if row["part"] == part), key=lambda row: int(row["first_offset"])):
            assert row["first_offset"] == position, f"partition {part}: a gap or an overlap at offset {position}"
            position = row["next_offset"]
        assert position == end, f"partition {part} ends at {position}, the topic at {end}"
