"""Whatever dies and when, every offset has one outcome: the driver at every step, a replica, the engine, brokers.

The fault points stand between the numbered steps of ``pipelines/stream/commit.py`` and inside the commit itself.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
from confluent_kafka import Consumer, TopicPartition

from pipelines.stream.settings import KafkaAccess
from pipelines.stream.topic import Topic
from pipelines.stream.watch import BatchDone, StreamWatcher
from tests.kafka import Kafka, running_kafka, wait_until_ready
from tests.pipelines.stream.conftest import Run, check_every_offset_has_one_outcome, message, rows_of
from tests.pipelines.stream.driver import run_driver

pytestmark = [pytest.mark.engine, pytest.mark.faults, pytest.mark.usefixtures("judge")]

AWAY = 12.0
FAULTS = ("planned", "read", "screened", "judged", "sent", "commit-written", "committed", "mirrored", "cleared")


def ends(kafka: Kafka, topic: str) -> dict[int, int]:
    with Topic(topic, KafkaAccess(kafka.bootstrap), "ends") as asked:
        return {part: bound.high for part, bound in asked.bounds().items()}


def test_a_driver_killed_between_any_two_steps_loses_nothing_and_doubles_nothing(
    kafka: Kafka, store_url: str, judge_settings: Any, tmp_path: Path
) -> None:
    topic, letters = kafka.topic(2), kafka.topic()
    changes = {"dead_letter_topic": letters, "group": f"group-{topic}"}
    log = tmp_path / "driver.log"
    made = 0
    for fault in FAULTS:
        values = [*(message(number) for number in range(made, made + 6)), f"poison {made}".encode()]
        kafka.produce(topic, values, partition=lambda number: number % 2)
        made += 6
        code = run_driver(kafka, topic, store_url, judge_settings, log, fault, **changes)
        assert code == -signal.SIGKILL, f"{fault}: ended with {code}\n{log.read_text()[-3000:]}"
        judged = Counter(row["pair_id"] for row in rows_of(store_url, "verdicts"))
        assert not [pair for pair, count in judged.items() if count > 1], fault
        positions = {row["part"]: row["next_offset"] for row in rows_of(store_url, "ledger")}
        covered = sum(positions.values())
        assert len(judged) + len(rows_of(store_url, "dead_letters")) == covered, f"{fault}: offsets without outcome"
    assert run_driver(kafka, topic, store_url, judge_settings, log, **changes) == 0, log.read_text()[-3000:]
    assert Counter(row["pair_id"] for row in rows_of(store_url, "verdicts")) == {f"pair-{n}": 1 for n in range(made)}
    assert len(rows_of(store_url, "dead_letters")) == len(FAULTS)
    check_every_offset_has_one_outcome(store_url, ends(kafka, topic), {})
    assert Counter(run["state"] for run in rows_of(store_url, "runs")) == {"interrupted": len(FAULTS), "done": 1}
    staged = [path for path in (tmp_path / "store").rglob("staging/**/*") if path.is_file()]
    assert not staged, "what killed drivers had staged is gone"
    assert len(set(sent_letters(kafka, letters))) == len(FAULTS), "every dead letter was sent, some perhaps twice"


def sent_letters(kafka: Kafka, topic: str) -> Iterator[bytes]:
    consumer = Consumer(kafka.config | {"group.id": "letters"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    count = ends(kafka, topic)[0]
    for found in consumer.consume(count, 20):
        value = found.value()
        assert value is not None
        yield bytes(value)
    consumer.close()


@pytest.mark.parametrize("victim", ["replica", "engine"])
def test_a_judge_that_dies_costs_time_and_nothing_else(kafka: Kafka, stream: Run, store_url: str, victim: str) -> None:
    topic = kafka.topic(2)
    kafka.produce(topic, [message(number) for number in range(96)], partition=lambda number: number % 2)
    killed: list[int] = []

    class Killer(StreamWatcher):
        def queued(self, pairs: int) -> None:
            if pairs and not killed:
                killed.append(kill_judge(victim))

    done = stream(kafka, topic, Killer(), max_batch=48)
    assert killed
    assert done.tally.dead_letters == 0
    assert Counter(row["pair_id"] for row in rows_of(store_url, "verdicts")) == {f"pair-{n}": 1 for n in range(96)}
    check_every_offset_has_one_outcome(store_url, ends(kafka, topic), {})


def kill_judge(victim: str) -> int:
    replicas = [
        process
        for process in psutil.process_iter(["cmdline"])
        if " ".join(process.info["cmdline"] or []).startswith("ray::ServeReplica:excam-judge")
    ]
    process = replicas[0]
    if victim == "engine":
        process = max(process.children(recursive=True), key=lambda child: child.memory_info().rss)
    process.kill()
    return process.pid


class Paced(StreamWatcher):
    """Does something after the first batch, and stops the stream once so many messages are settled."""

    def __init__(self, messages: int, then: Any) -> None:
        self.left, self.then, self.troubles = messages, then, 0

    def settled(self, done: BatchDone) -> None:
        then, self.then = self.then, None
        self.left -= done.messages
        if then is not None:
            then()
        if self.left <= 0:
            os.kill(os.getpid(), signal.SIGTERM)

    def trouble(self, error: BaseException, pause: float) -> None:
        self.troubles += 1


def test_a_broker_that_is_killed_is_replaced_by_another(stream: Run, store_url: str) -> None:
    with running_kafka(3) as cluster:
        topic = cluster.topic(3)
        first = [message(number) for number in range(12)]
        cluster.produce(topic, first, partition=lambda number: number % 3, acks="all")

        def kill_a_leader() -> None:
            metadata = cluster.admin().list_topics(topic, timeout=10).topics[topic]
            cluster.brokers[metadata.partitions[0].leader - 1].kill()
            more = [message(number) for number in range(12, 24)]
            cluster.produce(topic, more, partition=lambda number: number % 3, acks="all")

        stream(cluster, topic, Paced(24, kill_a_leader), until_caught_up=False)
        assert Counter(row["pair_id"] for row in rows_of(store_url, "verdicts")) == {f"pair-{n}": 1 for n in range(24)}
        check_every_offset_has_one_outcome(store_url, ends(cluster, topic), {})


def test_brokers_that_are_all_away_cost_the_time_they_are_away(kafka: Kafka, stream: Run, store_url: str) -> None:
    topic = kafka.topic()
    kafka.produce(topic, [message(number) for number in range(4)])

    def come_back() -> None:
        time.sleep(AWAY)
        kafka.brokers[0].start()
        wait_until_ready(kafka)
        kafka.produce(topic, [message(number) for number in range(4, 8)])

    def go_away() -> None:
        kafka.brokers[0].kill()
        threading.Thread(target=come_back).start()

    watcher = Paced(8, go_away)
    begun = time.monotonic()
    stream(kafka, topic, watcher, until_caught_up=False)
    assert time.monotonic() - begun > AWAY
    assert Counter(row["pair_id"] for row in rows_of(store_url, "verdicts")) == {f"pair-{n}": 1 for n in range(8)}
    check_every_offset_has_one_outcome(store_url, ends(kafka, topic), {})
