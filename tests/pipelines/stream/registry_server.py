"""A schema registry's HTTP interface for tests: one Avro, one Protobuf and one JSON schema."""

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
from google.protobuf import descriptor_pb2  # type: ignore[import-untyped]

AVRO = {
    "type": "record",
    "name": "Pair",
    "fields": [{"name": "prompt", "type": "string"}, {"name": "answer", "type": ["null", "string"]}],
}

TOLD = {
    "type": "record",
    "name": "Told",
    "fields": [{"name": name, "type": "string"} for name in ("pair_id", "instruction", "told")],
}


def protobuf_schema() -> Any:
    file = descriptor_pb2.FileDescriptorProto(name="pair.proto", package="chat", syntax="proto3")
    file.message_type.add(name="Other")
    pair = file.message_type.add(name="Pair")
    for number, name in enumerate(("prompt", "answer"), 1):
        kind = descriptor_pb2.FieldDescriptorProto
        pair.field.add(name=name, number=number, type=kind.TYPE_STRING, label=kind.LABEL_OPTIONAL)
    return file


ASKED = {"type": "record", "name": "chat.Asked", "fields": [{"name": "prompt", "type": "string"}]}
REFERRING = {
    "type": "record",
    "name": "chat.Turn",
    "fields": [{"name": "asked", "type": "chat.Asked"}, {"name": "answer", "type": "string"}],
}


def importing_schema() -> Any:
    """A message that holds one of another file, and a moment in Protobuf's own type."""
    kind = descriptor_pb2.FieldDescriptorProto
    moment = "google/protobuf/timestamp.proto"
    file = descriptor_pb2.FileDescriptorProto(name="default", syntax="proto3", dependency=[moment, "chat/pair.proto"])
    turn = file.message_type.add(name="Turn")
    for number, (name, type_name) in enumerate({"pair": ".chat.Pair", "ts": ".google.protobuf.Timestamp"}.items(), 1):
        turn.field.add(name=name, number=number, type=kind.TYPE_MESSAGE, label=kind.LABEL_OPTIONAL, type_name=type_name)
    return file


def _serialized(file: Any) -> dict[str, str]:
    return {"schema": base64.b64encode(file.SerializeToString()).decode()}


def _refers_to(name: str, subject: str) -> dict[str, Any]:
    return {"references": [{"name": name, "subject": subject, "version": 2}]}


SCHEMAS = {
    "/schemas/ids/1": {"schema": json.dumps(AVRO)},
    "/schemas/ids/2": {"schemaType": "PROTOBUF", "schema": 'syntax = "proto3"; …'},
    "/schemas/ids/2?format=serialized": _serialized(protobuf_schema()),
    "/schemas/ids/3": {"schemaType": "JSON", "schema": "{}"},
    "/schemas/ids/4": {"schema": json.dumps(TOLD)},
    "/schemas/ids/5": {"schema": json.dumps(REFERRING), **_refers_to("chat.Asked", "chat/asked")},
    "/subjects/chat%2Fasked/versions/2": {"schema": json.dumps(ASKED)},
    "/schemas/ids/6": {"schemaType": "PROTOBUF", "schema": "…", **_refers_to("chat/pair.proto", "pair")},
    "/schemas/ids/6?format=serialized": _serialized(importing_schema()),
    "/subjects/pair/versions/2": {"schemaType": "PROTOBUF", "schema": "…"},
    "/subjects/pair/versions/2?format=serialized": _serialized(protobuf_schema()),
    "/schemas/ids/7": {"schema": json.dumps(REFERRING)},
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


def avro_body(record: dict[str, Any], schema: dict[str, Any] = AVRO) -> bytes:
    sink = io.BytesIO()
    fastavro.schemaless_writer(sink, fastavro.parse_schema(schema), record)
    return sink.getvalue()


def told_body(pair_id: str, instruction: str, told: str) -> bytes:
    return avro_body({"pair_id": pair_id, "instruction": instruction, "told": told}, TOLD)
