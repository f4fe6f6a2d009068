"""From a message's bytes to records: JSON, several JSON objects in one message, or what a schema registry describes."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from excam.shapes import is_too_deep
from pipelines.files import plain
from pipelines.stream.registry import Registry, UndecodableError

FRAMED = b"\0"  # the first byte of a message that names its schema by number
LARGEST = 64 * 2**20  # a compressed batch of a few kilobytes may hold a message of any size


@dataclass(frozen=True)
class Undecodable:
    """Why a message, or one line of it, is no record."""

    reason: str


@dataclass(frozen=True)
class Decoded:
    """One record of a message. ``line`` counts from 1; ``text`` is its own part of a message that holds several."""

    line: int
    record: dict[str, Any] | Undecodable
    text: bytes | None = None


def decode(value: bytes, registry: Registry | None = None) -> list[Decoded]:
    """Every record a message holds; what cannot be read comes as a reason, never as an exception."""
    if len(value) > LARGEST:
        return [Decoded(1, Undecodable(f"{len(value):,} bytes, at most {LARGEST:,} are read"))]
    if registry is not None and value[:1] == FRAMED:
        try:
            return [Decoded(1, _shallow(registry.decode(value)))]
        except UndecodableError as error:
            return [Decoded(1, Undecodable(str(error)))]
    try:
        return list(_records(_shallow(json.loads(value)), None))
    except (ValueError, RecursionError) as error:
        lines = [(number, line) for number, line in enumerate(value.splitlines(), 1) if line.strip()]
        if len(lines) < 2 or not any(line.lstrip().startswith(b"{") for _, line in lines):
            return [Decoded(1, Undecodable(f"not JSON: {plain(error)}"))]
    return [_line(number, line) for number, line in lines]


def _shallow(found: Any) -> Any:
    """What was read, or why nobody goes through it: deep nesting ends whatever walks it by recursion."""
    return Undecodable("nested too deep") if is_too_deep(found) else found


def _records(found: Any, text: bytes | None) -> Iterator[Decoded]:
    """An object is a record, and a list of objects is several; a list may also be a conversation, which is none."""
    if isinstance(found, Undecodable):
        yield Decoded(1, found, text)
    elif isinstance(found, Mapping):
        yield Decoded(1, dict(found), text)
    elif isinstance(found, list) and found and all(isinstance(one, Mapping) for one in found):
        for number, one in enumerate(found, 1):
            yield Decoded(number, dict(one), json.dumps(one).encode() if len(found) > 1 else None)
    else:
        yield Decoded(1, Undecodable(f"expected a JSON object, found {type(found).__name__}"), text)


def _line(number: int, line: bytes) -> Decoded:
    try:
        found = _shallow(json.loads(line))
    except (ValueError, RecursionError) as error:
        return Decoded(number, Undecodable(f"line {number} is not JSON: {plain(error)}"), line)
    if isinstance(found, Undecodable):
        return Decoded(number, Undecodable(f"line {number}: {found.reason}"), line)
    if not isinstance(found, Mapping):
        return Decoded(number, Undecodable(f"line {number}: expected an object, found {type(found).__name__}"), line)
    return Decoded(number, dict(found), line)
