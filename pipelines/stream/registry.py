"""Avro and Protobuf messages whose schema a registry holds: five bytes in front name it, the registry says the rest.

The registry is any that speaks Confluent's HTTP interface (Confluent's own, Karapace, Apicurio in that mode). A schema
never changes once it has a number, so each is asked for once.
"""

from __future__ import annotations

import base64
import importlib.util
import io
import json
import os
import re
import struct
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Mapping
from typing import Any

from excam.fault import UserError
from pipelines.files import plain
from pipelines.unfold import texts

Reader = Callable[[bytes], dict[str, Any]]

USER, PASSWORD = "EXCAM_SCHEMA_REGISTRY_USER", "EXCAM_SCHEMA_REGISTRY_PASSWORD"
TIMEOUT = 10.0
_OWN_TYPES = re.compile(r"google/protobuf/\w+\.proto")


class UndecodableError(ValueError):
    """Bytes that are not what their schema says."""


class RegistryAwayError(ConnectionError):
    """The registry does not answer: the message is not at fault, and the batch is tried again."""


class Registry:
    """Decodes framed messages; schemas are asked for by number and kept."""

    def __init__(self, url: str) -> None:
        if "@" in url:
            raise UserError("the registry's URL holds credentials", f"set {USER} and {PASSWORD} instead")
        self._url = url.rstrip("/")
        self._readers: dict[int, Reader] = {}

    def decode(self, framed: bytes) -> dict[str, Any]:
        """The record inside a framed message."""
        if len(framed) < 5:
            raise UndecodableError("shorter than a schema number")
        (number,) = struct.unpack(">I", framed[1:5])
        try:
            if number not in self._readers:
                self._readers[number] = self._reader(number)
            return self._readers[number](framed[5:])
        except (UndecodableError, RegistryAwayError, ImportError):
            raise
        except Exception as error:  # on hostile bytes, and on schemas they make no sense of, decoders fail in any way
            raise UndecodableError(f"not a message of schema {number}: {plain(error)}") from error

    def check(self) -> None:
        """Say now that nobody answers, for runs that end rather than wait for a registry."""
        try:
            self._get("/schemas/types")
        except UndecodableError:
            return  # it answers, though it does not know the question
        except RegistryAwayError as error:
            raise UserError(
                f"{self._url}: {error}", "check --schema-registry, the network and its credentials"
            ) from error

    def _reader(self, number: int) -> Reader:
        place = f"/schemas/ids/{number}"
        found = self._get(place)
        kind = found.get("schemaType", "AVRO")
        if kind == "AVRO":
            return avro_reader(self._schemas(place, found))
        if kind == "PROTOBUF":
            return protobuf_reader(self._schemas(place, found, form="?format=serialized"))
        if kind == "JSON":
            return _json_reader
        raise UndecodableError(f"schema {number} is of kind {kind}, which this version does not read")

    def _schemas(self, place: str, found: Mapping[str, Any], form: str = "", name: str = "") -> dict[str, str]:
        """The schema found at a place and, before it, by their names, those it refers to with what these stand on."""
        schemas: dict[str, str] = {}
        for one in found.get("references") or ():
            where = f"/subjects/{urllib.parse.quote(one['subject'], safe='')}/versions/{one['version']}"
            schemas |= self._schemas(where, self._get(where), form, one["name"])
        return schemas | {name: (self._get(place + form) if form else found)["schema"]}

    def _get(self, path: str) -> dict[str, Any]:
        request = urllib.request.Request(self._url + path, headers={"Accept": "application/json"})
        user, password = os.environ.get(USER), os.environ.get(PASSWORD)
        if user and password:
            token = base64.b64encode(f"{user}:{password}".encode()).decode()
            request.add_header("Authorization", f"Basic {token}")
        try:
            with urllib.request.urlopen(request, timeout=TIMEOUT) as answer:
                found: dict[str, Any] = json.load(answer)
                return found
        except urllib.error.HTTPError as error:
            if error.code == 404:
                raise UndecodableError(f"the registry knows no schema at {path}") from error
            raise RegistryAwayError(f"the schema registry answered {error.code}") from error
        except (OSError, ValueError) as error:
            raise RegistryAwayError(f"the schema registry does not answer: {plain(error)}") from error


def avro_reader(schemas: Mapping[str, str]) -> Reader:
    """Reads Avro's binary form without a container, by the last of the schemas; the others are what it refers to.

    Bytes that are UTF-8 are text, as they are in a Parquet log.
    """
    import fastavro

    known: dict[str, Any] = {}
    parsed = [fastavro.parse_schema(json.loads(schema), known) for schema in schemas.values()][-1]

    def read(body: bytes) -> dict[str, Any]:
        return _object(texts(fastavro.schemaless_reader(io.BytesIO(body), parsed, None)))

    return read


def protobuf_reader(schemas: Mapping[str, str]) -> Reader:
    """Reads Protobuf by the last of the schemas; the others are what it imports, by the names it does so.

    A schema is a file descriptor, and an index path in front of the body names the message.
    """
    from google.protobuf import (  # type: ignore[import-untyped]
        descriptor_pb2,
        descriptor_pool,
        json_format,
        message_factory,
    )

    pool = descriptor_pool.DescriptorPool()
    known = set(schemas)

    def add(name: str, file: Any) -> None:
        """Add a file to the pool after what it imports of Protobuf's own types, which no registry has to hold."""
        for own in filter(_OWN_TYPES.fullmatch, set(file.dependency) - known):
            known.add(own)
            module = own.removesuffix(".proto").replace("/", ".") + "_pb2"
            if importlib.util.find_spec(module) is not None:
                described = importlib.import_module(module).DESCRIPTOR.serialized_pb
                add(own, descriptor_pb2.FileDescriptorProto.FromString(described))
        file.name = name or file.name
        pool.Add(file)

    for name, serialized in schemas.items():
        file = descriptor_pb2.FileDescriptorProto.FromString(base64.b64decode(serialized))
        add(name, file)
    top = [pool.FindMessageTypeByName(".".join(filter(None, (file.package, one.name)))) for one in file.message_type]

    def read(body: bytes) -> dict[str, Any]:
        path, rest = _indexes(body)
        kind = top[path[0]]
        for index in path[1:]:
            kind = kind.nested_types[index]
        message = message_factory.GetMessageClass(kind).FromString(rest)
        return _object(json_format.MessageToDict(message, preserving_proto_field_name=True, descriptor_pool=pool))

    return read


def _indexes(body: bytes) -> tuple[list[int], bytes]:
    """The message's place in its file: a count and that many zig-zag numbers; a single zero stands for the first."""
    count, body = _varint(body)
    path = []
    for _ in range(min(count, 64)):
        index, body = _varint(body)
        path.append(index)
    return path or [0], body


def _varint(body: bytes) -> tuple[int, bytes]:
    value = 0
    for place, byte in enumerate(body[:10]):
        value |= (byte & 0x7F) << (7 * place)
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), body[place + 1 :]
    raise UndecodableError("a number without an end")


def _json_reader(body: bytes) -> dict[str, Any]:
    return _object(json.loads(body))


def _object(found: Any) -> dict[str, Any]:
    if not isinstance(found, Mapping):
        raise UndecodableError(f"expected a record, found {type(found).__name__}")
    return dict(found)
