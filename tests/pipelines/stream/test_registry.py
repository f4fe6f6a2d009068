"""Avro and Protobuf through a schema registry's HTTP interface, and what happens when it lies or is away."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

import fastavro
import pytest
from google.protobuf import descriptor_pool, message_factory  # type: ignore[import-untyped]

from excam.fault import UserError
from pipelines.stream.decode import Undecodable, decode
from pipelines.stream.registry import Registry, RegistryAwayError, avro_reader
from tests.pipelines.stream.registry_server import ASKED, REFERRING, avro_body, framed, protobuf_schema, serving


def test_each_format_is_decoded_by_the_schema_its_number_names_and_schemas_are_asked_for_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("EXCAM_SCHEMA_REGISTRY_USER", "reader")
    monkeypatch.setenv("EXCAM_SCHEMA_REGISTRY_PASSWORD", "hidden")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(protobuf_schema())
    pair = message_factory.GetMessageClass(pool.FindMessageTypeByName("chat.Pair"))(prompt="Hi", answer="Hello")
    second_in_file = bytes([2, 2]) + pair.SerializeToString()  # zig-zag: one index, and it is 1
    expected = {"prompt": "Hi", "answer": "Hello"}
    seen: list[Any] = []
    with serving(seen) as url:
        registry = Registry(url)
        for _ in range(2):
            for value in (
                framed(1, avro_body(expected)),
                framed(2, second_in_file),
                framed(3, json.dumps(expected).encode()),
                json.dumps(expected).encode(),
            ):
                assert [one.record for one in decode(value, registry)] == [expected]
    assert len(seen) == 4
    assert {credentials for _, credentials in seen} == {"Basic " + base64.b64encode(b"reader:hidden").decode()}


def test_a_schema_is_read_with_those_it_refers_to_and_with_protobufs_own_types() -> None:
    turn = {"asked": {"prompt": "Hi"}, "answer": "Hello"}
    avro = io.BytesIO()
    fastavro.schemaless_writer(avro, fastavro.parse_schema([ASKED, REFERRING]), ("chat.Turn", turn))
    in_union = avro.getvalue()[1:]  # less the number of the record that was chosen
    protobuf = b"\0" + bytes([0x0A, 4, 0x0A, 2]) + b"Hi" + bytes([0x12, 6, 0x08]) + bytes([0x80, 0xE2, 0xCF, 0xAA, 6])
    with serving([]) as url:
        registry = Registry(url)
        assert [one.record for one in decode(framed(5, in_union), registry)] == [turn]
        (found,) = decode(framed(6, protobuf), registry)
        assert found.record == {"pair": {"prompt": "Hi"}, "ts": "2023-11-14T22:13:20Z"}
        (lost,) = decode(framed(7, in_union), registry)
        assert isinstance(lost.record, Undecodable), "a schema that cannot be had whole ends no stream"


def test_bytes_of_avro_that_are_text_are_text_as_in_a_parquet_log() -> None:
    fields = [{"name": "id", "type": "bytes"}, {"name": "metadata", "type": {"type": "map", "values": "bytes"}}]
    schema = {"type": "record", "name": "Chat", "fields": fields}
    body = avro_body({"id": b"conv-1", "metadata": {"user": "Zoë".encode(), "key": b"\xff"}}, schema)
    found = avro_reader({"": json.dumps(schema)})(body)
    assert found == {"id": "conv-1", "metadata": {"user": "Zoë", "key": b"\xff"}}


def test_what_does_not_fit_its_schema_is_a_reason_and_a_registry_that_is_away_is_not_the_messages_fault() -> None:
    with serving([]) as url:
        registry = Registry(url)
        registry.check()
        for value in (
            framed(1, b"\xff"),
            framed(9, b"x"),
            b"\0\0",
            framed(2, b"\xff" * 12),
            framed(2, bytes([0, 0xFF])),
        ):
            (found,) = decode(value, registry)
            assert isinstance(found.record, Undecodable), value
    with pytest.raises(RegistryAwayError):
        decode(framed(1, b"x"), Registry("http://127.0.0.1:1"))
    with pytest.raises(UserError, match="does not answer"):
        Registry("http://127.0.0.1:1").check()
    with pytest.raises(UserError, match="credentials"):
        Registry("http://user:secret@127.0.0.1:1")
