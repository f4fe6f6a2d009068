"""A dead-letter topic has limits of its own, on a real broker: whatever they are, every letter comes through."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, TopicPartition

from excam.fault import UserError
from excam.mapping import RecordMapping
from pipelines.screen import Row, Screening
from pipelines.stream import commit
from pipelines.stream.commit import DeadLetterTopic
from pipelines.stream.message import Message
from pipelines.stream.screen import screen_message
from pipelines.stream.settings import KafkaAccess
from pipelines.units import Sampling
from tests.kafka import Kafka
from tests.pipelines.stream.conftest import ends

DEFAULT = {"max.message.bytes": "1048588"}  # Kafka's, which the tests' brokers do not have


def letter_of(offset: int, value: bytes, **more: Any) -> Row:
    """The dead letter of a message that cannot be decoded."""
    message = Message("logs", 0, offset, value, **more)
    (row,) = screen_message(message, "logs", Screening(RecordMapping(), Sampling(), True), None).rows
    assert row is not None
    return row


def letters_in(kafka: Kafka, topic: str) -> dict[int, Any]:
    """What the topic's letters tell of their messages, by offset; each is there once."""
    consumer = Consumer(kafka.config | {"group.id": "letters", "fetch.message.max.bytes": 20_000_000})
    consumer.assign([TopicPartition(topic, 0, 0)])
    found = consumer.consume(ends(kafka, topic)[0], 20)
    consumer.close()
    told = {int(dict(one.headers() or [])["excam.offset"] or 0): one.value() for one in found}
    assert len(told) == len(found)
    return {offset: json.loads(value or b"")["excam_message"] for offset, value in told.items()}


def told_of(value: bytes) -> dict[str, Any]:
    return {"withheld": len(value), "sha256": hashlib.sha256(value).hexdigest()}


@pytest.mark.parametrize(
    "limit",
    [DEFAULT, {"segment.bytes": "1048576"}, {"max.message.bytes": "50000000"}],
    ids=["of the topic", "of its segments", "of the client"],
)
def test_a_letter_larger_than_the_topic_takes_goes_with_size_and_hash_in_place_of_its_value(
    kafka: Kafka, limit: dict[str, str]
) -> None:
    topic = kafka.topic(config=limit)
    large = b"\xff" * (900_000 if "50000000" not in limit.values() else 16_000_000)
    small = [letter_of(offset, b"\xffpoison") for offset in (0, 2)]
    sender = DeadLetterTopic(topic, KafkaAccess(kafka.bootstrap))
    sender.send([small[0], letter_of(1, large, key=b"k", headers={"trace": b"abc"}), small[1]])
    told = letters_in(kafka, topic)
    assert told[1]["value"] == told_of(large)
    assert (told[1]["key"], told[1]["headers"], told[1]["offset"]) == ("k", {"trace": "abc"}, 1)
    assert [told[offset]["value"] for offset in (0, 2)] == [{"base64": "/3BvaXNvbg=="}] * 2


def test_a_key_or_headers_too_large_are_told_by_size_and_hash_too(kafka: Kafka) -> None:
    topic = kafka.topic(config=DEFAULT)
    headers = {f"name {number}": b"x" for number in range(60_000)}
    letters = [letter_of(0, b"\xff", key=b"\xff" * 900_000), letter_of(1, b"\xff", headers=headers)]
    DeadLetterTopic(topic, KafkaAccess(kafka.bootstrap)).send(letters)
    told = letters_in(kafka, topic)
    assert told[0]["key"] == told_of(b"\xff" * 900_000)
    assert told[1]["headers"]["withheld"] > 1_000_000
    assert [told[offset]["value"] for offset in (0, 1)] == [{"base64": "/w=="}] * 2


def test_letters_that_fit_go_whole_although_they_came_to_a_request_that_does_not(kafka: Kafka) -> None:
    topic = kafka.topic(config={"max.message.bytes": "20000"})
    letters = [letter_of(offset, b"\xff" * 9_000) for offset in range(20)]
    DeadLetterTopic(topic, KafkaAccess(kafka.bootstrap)).send(letters)
    told = letters_in(kafka, topic)
    assert sorted(told) == list(range(20))
    assert all("base64" in one["value"] for one in told.values())


def test_a_topic_that_takes_no_letter_at_all_is_the_users_to_mend(kafka: Kafka) -> None:
    topic = kafka.topic(config={"max.message.bytes": "100"})
    with pytest.raises(UserError, match=r"max\.message\.bytes"):
        DeadLetterTopic(topic, KafkaAccess(kafka.bootstrap)).send([letter_of(0, b"\xff")])


def test_more_letters_than_the_client_holds_at_once_are_sent_as_room_comes(kafka: Kafka) -> None:
    topic = kafka.topic()
    sender = DeadLetterTopic(topic, KafkaAccess(kafka.bootstrap, {"queue.buffering.max.messages": 10}))
    sender.send([letter_of(offset, b"\xff") for offset in range(100)])
    assert sorted(letters_in(kafka, topic)) == list(range(100))


def test_a_broker_that_makes_no_room_for_letters_is_one_to_wait_for(
    kafka: Kafka, monkeypatch: pytest.MonkeyPatch
) -> None:
    topic = kafka.topic()
    sender = DeadLetterTopic(topic, KafkaAccess(kafka.bootstrap, {"queue.buffering.max.messages": 10}))
    sender.send([letter_of(0, b"\xff")])
    monkeypatch.setattr(commit, "FLUSH_SECONDS", 0.5)
    with hanging(kafka), pytest.raises(KafkaException, match="not acknowledged"):
        sender.send([letter_of(offset, b"\xff") for offset in range(1, 20)])


@contextmanager
def hanging(kafka: Kafka) -> Iterator[None]:
    kafka.brokers[0].pause()
    try:
        yield
    finally:
        kafka.brokers[0].resume()
