"""Moving to a new judge while live: both judge the topic in one stream, and each has its own series and offsets."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from excam.fault import UserError
from pipelines.stream.successor import Successor
from pipelines.stream.watch import StreamWatcher
from serve.identity import prepare
from serve.settings import JudgeSettings
from tests.kafka import Kafka
from tests.pipelines.stream.conftest import Run, ends, message, rows_of

pytestmark = pytest.mark.engine


def test_a_new_judge_catches_up_beside_the_old_one_whose_series_goes_on(
    kafka: Kafka, stream: Run, store_url: str, next_judge: JudgeSettings
) -> None:
    topic = kafka.topic(2)
    kafka.produce(topic, [message(number) for number in range(10)], partition=lambda number: number % 2)
    old = stream(kafka, topic).judge_version
    kafka.produce(topic, [message(number) for number in range(10, 16)], partition=lambda number: number % 2)
    told = StreamWatcher()
    done = stream(kafka, topic, successor=Successor(next_judge, told))
    new = prepare(next_judge).card.judge_version
    assert done.tally.judged == 6, "the old judge goes on where it stood"
    series = Counter((row["judge_version"], row["pair_id"]) for row in rows_of(store_url, "verdicts"))
    assert series == {(version, f"pair-{number}"): 1 for version in (old, new) for number in range(16)}
    assert Counter(row["pair_id"] for row in rows_of(store_url, "pairs")) == {f"pair-{n}": 1 for n in range(16)}
    stands = {(row["judge_version"], row["part"]): row["next_offset"] for row in rows_of(store_url, "ledger")}
    assert stands == {(version, part): end for version in (old, new) for part, end in ends(kafka, topic).items()}
    assert {run["state"] for run in rows_of(store_url, "runs")} == {"done"}


def test_a_judge_does_not_succeed_itself(
    kafka: Kafka, stream: Run, store_url: str, judge: Any, judge_settings: JudgeSettings
) -> None:
    topic = kafka.topic()
    with pytest.raises(UserError, match="the one that runs already"):
        stream(kafka, topic, successor=Successor(judge_settings))
    assert [run["state"] for run in rows_of(store_url, "runs")] == ["failed"]
