"""A person is found in the messages that a stream could not use, so that deleting their data deletes these as well."""

from __future__ import annotations

import io
import json
import struct
from decimal import Decimal
from typing import Any

import fastavro
import pytest
from google.protobuf import struct_pb2, wrappers_pb2  # type: ignore[import-untyped]

from excam.mapping import RecordMapping
from excam.store.mentions import mentions
from pipelines.screen import Screening
from pipelines.stream.message import Message
from pipelines.stream.screen import screen_message
from pipelines.units import Sampling

WHO = "alice-4711"
CUT_SHORT = json.dumps({"user": {"id": WHO}, "prompt": "q", "answer": "a"}).encode()[:-5]
NO_ANSWER = {"prompt": "1 and 1?", "answer": None}


def avro(kind: Any, value: object) -> bytes:
    """A framed message with a number behind a text, as a producer writes it."""
    fields = [{"name": "prompt", "type": "string"}, {"name": "user", "type": kind}]
    schema = fastavro.parse_schema({"type": "record", "name": "Chat", "fields": fields})
    body = io.BytesIO()
    fastavro.schemaless_writer(body, schema, {"prompt": "Who am I?", "user": value})
    return b"\0\0\0\0\x09" + body.getvalue()


def in_struct(number: int) -> bytes:
    told = struct_pb2.Struct()
    told["user"] = number
    return bytes(told.SerializeToString())


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


@pytest.mark.parametrize("number", [4711, -4711, 2**31 + 4711, 4711 * 10**12])
def test_a_number_is_found_in_a_binary_message(number: int) -> None:
    wide = struct.pack("<q", number)
    for value in (
        avro("long", number),
        avro(["null", "long"], number),
        avro("double", number),
        avro({"type": "bytes", "logicalType": "decimal", "precision": 20}, Decimal(number)),
        b"\0\0\0\0\x09\0" + wrappers_pb2.Int64Value(value=number).SerializeToString(),
        b"\0\0\0\0\x09\0" + in_struct(number),
        b"\0\0\0\0\x09\0\x09" + wide,
    ):
        assert mentions(kept(value), "user.id", str(number)), value
        assert not mentions(kept(value), "user.id", str(number + 1_000_001)), value


@pytest.mark.parametrize("key", [struct.pack(">q", 258), struct.pack(">i", 258), b"\0\0\0\0\x01\x84\x04"])
def test_a_number_that_is_a_binary_key_is_found_and_no_part_of_it(key: bytes) -> None:
    record = kept(json.dumps(NO_ANSWER).encode(), key=key)
    assert mentions(record, "user.id", "258")
    assert not any(mentions(record, "user.id", other) for other in ("1", "2", "4"))


def test_a_number_in_a_text_is_no_binary_number() -> None:
    assert not mentions(kept(CUT_SHORT), "user.id", "17"), "34 is a quotation mark"
