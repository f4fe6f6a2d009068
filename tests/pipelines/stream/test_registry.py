"""Avro and Protobuf through a schema registry's HTTP interface, and what happens when it lies or is away."""

from __future__ import annotations

import base64
import io
import json
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import fastavro
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory  # type: ignore[import-untyped]

from excam.fault import UserError
from pipelines.stream.decode import Undecodable, decode
from pipelines.stream.registry import Registry, RegistryAwayError

AVRO = {
    "type": "record",
    "name": "Pair",
    "fields": [{"name": "prompt", "type": "string"}, {"name": "answer", "type": ["null", "string"]}],
}


def protobuf_schema() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="pair.proto", package="chat", syntax="proto3")
    file.message_type.add(name="Other")
    pair = file.message_type.add(name="Pair")
    for number, name in enumerate(("prompt", "answer"), 1):
        kind = descriptor_pb2.FieldDescriptorProto
        pair.field.add(name=name, number=number, type=kind.TYPE_STRING, label=kind.LABEL_OPTIONAL)
    return file


SCHEMAS = {
    "/schemas/ids/1": {"schema": json.dumps(AVRO)},
    "/schemas/ids/2": {"schemaType": "PROTOBUF", "schema": 'syntax = "proto3"; …'},
    "/schemas/ids/2?format=serialized": {
        "schema": base64.b64encode(protobuf_schema().SerializeToString()).decode(),
    },
    "/schemas/ids/3": {"schemaType": "JSON", "schema": "{}"},
}


@contextmanager
def serving(seen: list[Any]) -> Iterator[str]:
    class Answer(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            seen.append((self.path, self.headers.get("Authorization")))
            found = SCHEMAS.get(self.path)
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(json.dumps(found or {"error_code": 40403}).encode())

        def log_message(self, *arguments: Any) -> None:
            return None

    server = HTTPServer(("127.0.0.1", 0), Answer)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()


def framed(number: int, body: bytes) -> bytes:
    return b"\0" + struct.pack(">I", number) + body


def avro_body(record: dict[str, Any]) -> bytes:
    sink = io.BytesIO()
    fastavro.schemaless_writer(sink, fastavro.parse_schema(AVRO), record)
    return sink.getvalue()


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


def test_what_does_not_fit_its_schema_is_a_reason_and_a_registry_that_is_away_is_not_the_messages_fault() -> None:
    with serving([]) as url:
        registry = Registry(url)
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
    with pytest.raises(UserError, match="credentials"):
        Registry("http://user:secret@127.0.0.1:1")
