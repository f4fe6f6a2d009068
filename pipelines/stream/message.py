"""One Kafka message: where it was, what it carried, and the form in which a dead letter keeps all of it."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

MESSAGE = "excam_message"  # the one key of a dead letter's record that holds a message
SHORT = 1_000  # characters


@dataclass(frozen=True)
class Message:
    """A message as Ray Data read it. ``value`` is None for a tombstone; of headers with one name the last is kept."""

    topic: str
    part: int
    offset: int
    value: bytes | None
    key: bytes | None = None
    timestamp: int | None = None
    headers: Mapping[str, bytes] = field(default_factory=dict)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Message:
        headers = row.get("headers") or {}
        pairs = headers.items() if isinstance(headers, Mapping) else headers
        return cls(
            topic=row["topic"],
            part=int(row["partition"]),
            offset=int(row["offset"]),
            value=row["value"],
            key=row.get("key"),
            timestamp=row["timestamp"] if (row.get("timestamp") or 0) > 0 else None,
            headers={str(name): value for name, value in pairs if value is not None},
        )

    def record(self, **more: Any) -> dict[str, Any]:
        """Everything about the message as a JSON object that :func:`message_of` reads back."""
        told = {
            "topic": self.topic,
            "partition": self.part,
            "offset": self.offset,
            "timestamp": self.timestamp,
            "headers": {name: _text(value) for name, value in self.headers.items()},
            "key": _text(self.key),
            "value": _text(self.value),
        }
        return {MESSAGE: told | more}


def message_of(record: Mapping[str, Any]) -> tuple[Message, dict[str, Any]] | None:
    """The message that a dead letter's record holds and what was noted beside it; None when it holds none."""
    told = record.get(MESSAGE)
    if not isinstance(told, Mapping) or "offset" not in told:
        return None
    message = Message(
        topic=str(told["topic"]),
        part=int(told["partition"]),
        offset=int(told["offset"]),
        value=_bytes(told.get("value")),
        key=_bytes(told.get("key")),
        timestamp=told.get("timestamp"),
        headers={name: _bytes(value) or b"" for name, value in (told.get("headers") or {}).items()},
    )
    return message, dict(told)


def shortened(record: str) -> str:
    """A dead letter's record with size and hash in place of what makes it long, be that value, key or headers."""
    told = json.loads(record)[MESSAGE]
    for name in ("value", "key", "headers"):
        text = json.dumps(told[name])
        if len(text) > SHORT:
            told[name] = withheld(text.encode() if name == "headers" else _bytes(told[name]) or b"")
    return json.dumps({MESSAGE: told})


def withheld(value: bytes) -> dict[str, Any]:
    """What is told of bytes that are not: how many they are, and their hash."""
    return {"withheld": len(value), "sha256": hashlib.sha256(value).hexdigest()}


def _text(value: bytes | None) -> Any:
    """Bytes as text where they are text, else as base64 in an object that says so."""
    if value is None:
        return None
    try:
        return value.decode()
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(value).decode()}


def _bytes(value: Any) -> bytes | None:
    if value is None:
        return None
    if isinstance(value, Mapping):
        return base64.b64decode(value.get("base64", ""))
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else json.dumps(value).encode()
