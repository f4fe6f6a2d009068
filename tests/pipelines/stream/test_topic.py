"""What brokers say of a topic, read from a real one: where it ends for a reader, and where monitors see us."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest
from confluent_kafka import KafkaException, TopicPartition

from excam.fault import UserError
from pipelines.stream.loop import RECOVERABLE
from pipelines.stream.plan import BatchSize, Planner
from pipelines.stream.settings import KafkaAccess
from pipelines.stream.topic import Bounds, Topic
from tests.kafka import Kafka


def topic_of(kafka: Kafka, name: str) -> Topic:
    return Topic(name, KafkaAccess(kafka.bootstrap), f"group-{name}")


def test_the_last_message_a_reader_gets_is_found_behind_markers_and_aborted_transactions(kafka: Kafka) -> None:
    name = kafka.topic(3)
    kafka.produce(name, [b"a", b"b", b"c"])
    kafka.transaction(name, [b"d", b"e"], commit=True)
    kafka.transaction(name, [b"x"] * 40, commit=False)
    kafka.produce(name, [b"a"], partition=lambda number: 1)
    with topic_of(kafka, name) as topic:
        bounds = topic.bounds()
        assert bounds == {0: Bounds(0, 47), 1: Bounds(0, 1), 2: Bounds(0, 0)}
        assert topic.visible_ends({0: (0, 47), 1: (0, 1)}) == {0: 5, 1: 1}
        assert topic.visible_ends({0: (5, 47)}) == {0: 5}, "nothing but an aborted transaction is left"
        assert topic.visible_ends({0: (0, 2)}) == {0: 2}


def test_where_to_begin_can_be_the_start_the_end_or_a_moment(kafka: Kafka) -> None:
    name = kafka.topic(2)
    kafka.produce(name, [b"old"] * 3)
    time.sleep(0.05)
    moment = datetime.now(UTC)
    kafka.produce(name, [b"new"] * 2)
    with topic_of(kafka, name) as topic:
        bounds = topic.bounds()
        assert topic.positions("earliest", bounds) == {0: 0, 1: 0}
        assert topic.positions("latest", bounds) == {0: 5, 1: 0}
        assert topic.positions(moment, bounds) == {0: 3, 1: 0}


def test_a_partition_that_was_added_while_no_stream_ran_is_read_from_its_start(kafka: Kafka) -> None:
    name = kafka.topic(2)
    kafka.produce(name, [b"sent before the stream came back"], partition=lambda number: 1)
    with topic_of(kafka, name) as topic:
        planner = Planner(topic, BatchSize(max_batch=10, max_latency=30))
        assert [(one.part, one.next_offset) for one in planner.begin({0: 0}, "latest", rewind=False)] == [(1, 0)]
        assert [(one.part, one.next_offset) for one in planner.begin({0: 0}, "latest", rewind=True)] == [(0, 0), (1, 1)]


def test_the_group_mirrors_what_it_is_told(kafka: Kafka) -> None:
    name = kafka.topic(2)
    with topic_of(kafka, name) as topic:
        assert topic.mirrored() == {}
        topic.mirror({0: 3, 1: 0})
        assert topic.mirrored() == {0: 3, 1: 0}


def test_a_topic_made_again_is_another_source_and_a_missing_one_is_the_users_mistake(kafka: Kafka) -> None:
    name = kafka.topic()
    with topic_of(kafka, name) as topic:
        first = topic.source
    kafka.delete(name)
    with pytest.raises(UserError, match="there is no topic"):
        topic_of(kafka, name)
    kafka.topic(name=name)
    with topic_of(kafka, name) as topic:
        assert topic.source != first


def test_a_topic_made_again_under_a_stream_is_neither_planned_for_nor_taken_for_the_old_one_once_read(
    kafka: Kafka,
) -> None:
    name = kafka.topic()
    kafka.produce(name, [b"old"] * 5)
    with topic_of(kafka, name) as topic:
        planner = Planner(topic, BatchSize(max_batch=100, max_latency=30))
        planner.begin({}, "earliest", rewind=False)
        plan = planner.next()
        assert plan is not None
        kafka.delete(name)
        with pytest.raises(KafkaException, match="UNKNOWN_TOPIC"):
            planner.next()
        kafka.topic(name=name)
        kafka.produce(name, [b"new"] * 12)
        for firsts in ({0: 0}, {0: 3}):
            with pytest.raises(UserError, match="made again"):
                planner.recount(plan, firsts)
        planner.positions = {0: 5}
        with pytest.raises(UserError, match="made again") as raised:
            planner.next()
    assert not isinstance(raised.value, RECOVERABLE), "no waiting brings the old topic back"


def test_a_plan_reports_what_retention_deleted_and_takes_up_new_partitions_from_their_start(kafka: Kafka) -> None:
    name = kafka.topic(1)
    kafka.produce(name, [b"x"] * 10)
    with topic_of(kafka, name) as topic:
        planner = Planner(topic, BatchSize(max_batch=4, max_latency=30))
        assert [one.kind for one in planner.begin({}, "earliest", rewind=False)] == ["start"]
        admin = kafka.admin()
        admin.delete_records([TopicPartition(name, 0, 6)])[TopicPartition(name, 0)].result(10)
        plan = planner.next()
        assert plan is not None
        assert [(one.kind, one.first_offset, one.next_offset) for one in plan.moved] == [("lost", 0, 6)]
        assert [(one.part, one.start, one.end) for one in plan.ranges] == [(0, 6, 10)]
        planner.positions = {0: 10}
        assert planner.next() is None
        planner.positions = {0: 11}
        with pytest.raises(UserError, match="the topic ends at 10"):
            planner.next()


def test_what_retention_deletes_between_planning_and_reading_is_a_loss_and_what_was_read_in_time_is_not(
    kafka: Kafka,
) -> None:
    name = kafka.topic(2)
    kafka.produce(name, [b"x"] * 12, partition=lambda number: number % 2)
    with topic_of(kafka, name) as topic:
        planner = Planner(topic, BatchSize(max_batch=100, max_latency=30))
        planner.begin({}, "earliest", rewind=False)
        plan = planner.next()
        assert plan is not None
        admin = kafka.admin()
        gone = [TopicPartition(name, part, 4) for part in (0, 1)]
        for done in admin.delete_records(gone).values():
            done.result(10)
        assert planner.recount(plan, {0: 0, 1: 0}) == plan, "read before they were deleted"
        late = planner.recount(plan, {0: 0, 1: 4})
        assert [(one.kind, one.part, one.first_offset, one.next_offset) for one in late.moved] == [("lost", 1, 0, 4)]
        assert [(one.part, one.start, one.end) for one in late.ranges] == [(0, 0, 6), (1, 4, 6)]
        late = planner.recount(plan, {0: None, 1: 2})
        assert [(one.part, one.first_offset, one.next_offset) for one in late.moved] == [(0, 0, 4), (1, 0, 2)]


def test_a_compacted_topic_is_read_to_its_last_message_whatever_offsets_are_gone(kafka: Kafka) -> None:
    name = kafka.compacted_topic(b"first", b"last", gap=300)
    with topic_of(kafka, name) as topic:
        assert topic.bounds() == {0: Bounds(0, 303)}
        assert topic.visible_ends({0: (1, 200)}) == {0: 1}, "nothing but offsets that compaction took"
        assert topic.visible_ends({0: (0, 256)}) == {0: 1}
        assert topic.visible_ends({0: (1, 302)}) == {0: 302}


def test_a_batch_is_as_large_as_the_judge_settles_in_time() -> None:
    size = BatchSize(max_batch=5000, max_latency=30)
    assert size.messages == 256
    size.learn(300, 300_000, 10)
    assert size.messages == 270
    for _ in range(20):
        size.learn(100_000, 10**8, 10)
    assert size.messages == 5000
    size.learn(10, 50 * 2**20, 1)
    assert size.messages <= 13, "large messages make small batches"
