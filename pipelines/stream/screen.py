"""Screening of messages: every record of a message leaves as one outcome row, named by topic, partition and offset."""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, replace
from typing import Any

from excam.mapping import RecordMapping
from excam.outcome import Kind
from pipelines.read import record_json
from pipelines.screen import Row, Screening, dead_letter, screen_record
from pipelines.stream.decode import LARGEST, Decoded, Undecodable, decode
from pipelines.stream.message import MESSAGE, Message, withheld
from pipelines.stream.registry import Registry

_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")


@dataclass(frozen=True)
class ScreenedMessage:
    """A message's records: ``None`` stands for one that the sample leaves out. A tombstone has none."""

    rows: list[Row | None]


def screen_message(message: Message, source: str, how: Screening, registry: Registry | None) -> ScreenedMessage:
    """Decode and screen one message. Of several records in it, each has an outcome, and a dead letter, of its own."""
    if message.value is None:
        return ScreenedMessage([])
    rows: list[Row | None] = []
    for decoded in decode(message.value, registry):
        name = source if decoded.line == 1 else f"{source} line {decoded.line}"
        origin = {"source": name, "part": message.part, "row": message.offset}
        if isinstance(decoded.record, Undecodable):
            reason = how.mapping.redacted(decoded.record.reason)
            detail = f"{message.topic}, partition {message.part}, offset {message.offset}: {reason}"
            row: Row | None = origin | dead_letter("decode", "undecodable", detail, None)
        else:
            row = screen_record(decoded.record, origin, how, message.timestamp)
        if row is not None and row["kind"] != Kind.VERDICT.value:
            row["record"] = kept_message(message, decoded, how.mapping, row.get("sample_share"))
        rows.append(row)
    return ScreenedMessage(rows)


def kept_message(message: Message, decoded: Decoded, mapping: RecordMapping, share: float | None) -> str:
    """The message, or its one line, as a dead letter keeps it: with key, headers and bytes, as they were.

    Where texts are redacted, what could not be read as text is withheld: nobody can say what is in it. A message
    too large to be read is withheld too, so that it does not fill the store; the topic has it.
    """
    told = replace(message, value=decoded.text or message.value).record(sample_share=share)
    if message.value is not None and len(message.value) > LARGEST:
        told[MESSAGE]["value"] = withheld(message.value)
    if not mapping.redacts:
        return record_json(told)
    content = told[MESSAGE]
    if isinstance(decoded.record, dict):
        content["value"] = record_json(_behind_escapes(mapping.kept(decoded.record), mapping))
    else:
        content["value"] = _safe(content["value"], mapping)
    content["key"] = _safe(content["key"], mapping)
    content["headers"] = {str(mapping.redacted(name)): _safe(one, mapping) for name, one in content["headers"].items()}
    return record_json(told)


def _safe(value: Any, mapping: RecordMapping) -> Any:
    if isinstance(value, str):
        return mapping.redacted(_unescaped(value))
    return withheld(base64.b64decode(value["base64"])) if isinstance(value, dict) and "base64" in value else value


def _behind_escapes(value: Any, mapping: RecordMapping) -> Any:
    """A redacted record without what JSON in its texts hides; all other texts are as they were."""
    if isinstance(value, str):
        plain = _unescaped(value)
        safe = mapping.redacted(plain) if plain != value else plain
        return value if safe == plain else safe
    if isinstance(value, dict):
        return {name: _behind_escapes(one, mapping) for name, one in value.items()}
    return [_behind_escapes(one, mapping) for one in value] if isinstance(value, list) else value


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: chr(int(match[1], 16)), text)
