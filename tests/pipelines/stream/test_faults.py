"""What takes minutes to recover from: a replica or the engine that dies, a broker of three that is killed.

`make faults` runs these; kills of the driver and a short absence of the brokers are part of `make test`.
"""

from __future__ import annotations

from collections import Counter

import psutil
import pytest

from pipelines.stream.watch import StreamWatcher
from tests.kafka import Kafka, running_kafka
from tests.pipelines.stream.conftest import Run, check_every_offset_has_one_outcome, ends, message, rows_of
from tests.pipelines.stream.paced import Paced

pytestmark = [pytest.mark.engine, pytest.mark.faults, pytest.mark.usefixtures("judge")]


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
