"""A person is found in the messages that a stream could not use, so that deleting their data deletes these as well."""

from __future__ import annotations

import json
from typing import Any

import pytest

from excam.mapping import RecordMapping
from excam.store.mentions import mentions
from pipelines.screen import Screening
from pipelines.stream.message import Message
from pipelines.stream.screen import screen_message
from pipelines.units import Sampling

WHO = "alice-4711"
CUT_SHORT = json.dumps({"user": {"id": WHO}, "prompt": "q", "answer": "a"}).encode()[:-5]
NO_ANSWER = {"prompt": "1 and 1?", "answer": None}


def kept(value: bytes, **message: Any) -> str:
    """The record of the dead letter that a message becomes."""
    how = Screening(RecordMapping(metadata=("user.id",)), Sampling(), gate=False)
    (row,) = screen_message(Message("chats", 1, 1, value, **message), "kafka:chats", how, None).rows
    assert row is not None
    assert row["kind"] == "dead_letter"
    return str(row["record"])


@pytest.mark.parametrize(
    "value",
    [
        json.dumps(NO_ANSWER | {"user": {"id": WHO}}).encode(),
        json.dumps(NO_ANSWER | {"user.id": WHO}).encode(),
        json.dumps(NO_ANSWER | {"user.id": WHO}).encode("utf-16"),
        CUT_SHORT,
        b"\n" + CUT_SHORT,
        b"\xef\xbb\xbf" + CUT_SHORT,
        b"2026-11-17 INFO " + CUT_SHORT,
        CUT_SHORT + b"\xff",
        f"{WHO} said hello".encode(),
        json.dumps(json.dumps({"user": {"id": WHO}})).encode(),
        json.dumps([WHO, "x"]).encode(),
        b'{"user.id":"' + WHO.encode() + b'","tools":' + b"[" * 3000 + b"]" * 3000 + b"}",
    ],
)
def test_a_person_is_found_in_whatever_a_message_holds(value: bytes) -> None:
    assert mentions(kept(value), "user.id", WHO)
    assert not mentions(kept(value), "user.id", "bob")


@pytest.mark.parametrize("value", [b"{broken", json.dumps(NO_ANSWER).encode()])
def test_a_person_is_found_in_what_goes_with_a_message(value: bytes) -> None:
    assert mentions(kept(value, key=WHO.encode()), "user.id", WHO)
    assert mentions(kept(value, headers={"user.id": WHO.encode()}), "user.id", WHO)
    assert not mentions(kept(value, key=b"bob"), "user.id", WHO)


def test_a_short_value_takes_no_message_that_can_be_read_and_names_another() -> None:
    record = kept(json.dumps(NO_ANSWER | {"user": {"id": 2}}).encode(), key=b"user-1", headers={"version": b"1"})
    assert not mentions(record, "user.id", "1")
    assert mentions(record, "user.id", "2")
