"""A driver killed at any step, and brokers that go away: every offset has one outcome all the same.

The fault points stand between the numbered steps of ``pipelines/stream/commit.py`` and inside the commit itself. Ray
and the judge outlive the drivers, as a cluster does, so a kill costs what a restarted driver needs to be up again.
What kills the judge itself, or one of three brokers, is in test_faults.py: that takes minutes.
"""

from __future__ import annotations

import signal
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from confluent_kafka import Consumer, TopicPartition

from tests.kafka import Kafka, wait_until_ready
from tests.pipelines.stream.conftest import Run, check_every_offset_has_one_outcome, ends, message, rows_of
from tests.pipelines.stream.driver import run_driver, start_driver
from tests.pipelines.stream.paced import Paced

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("judge")]

APART = ("judged", "sent", "commit-written", "committed")  # each leaves something else behind
OTHERS = ("planned", "read", "screened", "mirrored", "cleared")  # these leave nothing, or less than one of those


@pytest.mark.parametrize("faults", [APART, pytest.param(OTHERS, marks=pytest.mark.faults)], ids=["apart", "others"])
def test_a_driver_killed_between_any_two_steps_loses_nothing_and_one_told_to_end_ends_well(
    kafka: Kafka, store_url: str, judge_settings: Any, tmp_path: Path, faults: tuple[str, ...]
) -> None:
    topic, letters = kafka.topic(2), kafka.topic()
    changes: dict[str, Any] = {"dead_letter_topic": letters, "group": f"group-{topic}"}
    log = tmp_path / "driver.log"
    made = 0
    for fault in faults:
        values = [*(message(number) for number in range(made, made + 6)), f"poison {made}".encode()]
        kafka.produce(topic, values, partition=lambda number: number % 2)
        made += 6
        code = run_driver(kafka, topic, store_url, judge_settings, log, fault, **changes)
        assert code == -signal.SIGKILL, f"{fault}: ended with {code}\n{log.read_text()[-3000:]}"
        judged = Counter(row["pair_id"] for row in rows_of(store_url, "verdicts"))
        assert not [pair for pair, count in judged.items() if count > 1], fault
        covered = sum(positions_of(store_url).values())
        assert len(judged) + len(rows_of(store_url, "dead_letters")) == covered, f"{fault}: offsets without outcome"
    kafka.produce(topic, [message(made)])
    made += 1
    last = start_driver(kafka, topic, store_url, judge_settings, log, **changes, until_caught_up=False)
    given_up = time.monotonic() + 300
    while sum(positions_of(store_url).values()) < sum(ends(kafka, topic).values()):
        assert last.is_alive(), log.read_text()[-3000:]
        assert time.monotonic() < given_up, log.read_text()[-3000:]
        time.sleep(0.2)
    last.terminate()  # as Kubernetes asks a pod to go: it finishes, gives the store back and ends well
    last.join(120)
    assert last.exitcode == 0, log.read_text()[-3000:]
    assert Counter(row["pair_id"] for row in rows_of(store_url, "verdicts")) == {f"pair-{n}": 1 for n in range(made)}
    assert len(rows_of(store_url, "dead_letters")) == len(faults)
    check_every_offset_has_one_outcome(store_url, ends(kafka, topic), {})
    assert Counter(run["state"] for run in rows_of(store_url, "runs")) == {"interrupted": len(faults), "stopped": 1}
    staged = [path for path in (tmp_path / "store").rglob("staging/**/*") if path.is_file()]
    assert not staged, "what killed drivers had staged is gone"
    assert len(set(sent_letters(kafka, letters))) == len(faults), "every dead letter was sent, some perhaps twice"


def positions_of(store_url: str) -> dict[int, int]:
    return {row["part"]: row["next_offset"] for row in rows_of(store_url, "ledger")}


def sent_letters(kafka: Kafka, topic: str) -> Iterator[bytes]:
    consumer = Consumer(kafka.config | {"group.id": "letters"})
    consumer.assign([TopicPartition(topic, 0, 0)])
    count = ends(kafka, topic)[0]
    for found in consumer.consume(count, 20):
        value = found.value()
        assert value is not None
        yield bytes(value)
    consumer.close()


@pytest.mark.faults
def test_brokers_that_are_all_away_cost_the_time_they_are_away(kafka: Kafka, stream: Run, store_url: str) -> None:
    topic = kafka.topic()
    kafka.produce(topic, [message(number) for number in range(4)])

    def come_back() -> None:
        while not watcher.troubles:
            time.sleep(0.1)
        kafka.brokers[0].start()
        wait_until_ready(kafka)
        kafka.produce(topic, [message(number) for number in range(4, 8)])

    def go_away() -> None:
        kafka.brokers[0].kill()
        threading.Thread(target=come_back, daemon=True).start()

    watcher = Paced(8, go_away)
    done = stream(kafka, topic, watcher, until_caught_up=False)
    assert done.stopped
    assert watcher.recoveries >= 1
    assert Counter(row["pair_id"] for row in rows_of(store_url, "verdicts")) == {f"pair-{n}": 1 for n in range(8)}
    check_every_offset_has_one_outcome(store_url, ends(kafka, topic), {})
