"""Whether a dead letter's record is about a person: by a name and its value, as a log says it.

A record that can be read is searched for the value under its name, however deep, so that a short value such as ``1``
does not take every letter with that digit. One that cannot be read is taken when it holds the value at all, be it as a
text or as a binary number.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from typing import Any

from excam.pair import as_text
from excam.shapes import is_too_deep
from excam.store.numerals import holds_number, is_number

_MESSAGE = "excam_message"  # where a stream's dead letter keeps its message: see pipelines/stream/message.py
_UNSEEN = str.maketrans("", "", "\\\0\ufeff")


def mentions(record: str | None, name: str | None, value: str) -> bool:
    """Whether a record holds the value, under this name if one is given and the record can be read."""
    if not record:
        return False
    names = _spellings(name) if name else None
    try:
        opened = _read(record)
        message = opened.get(_MESSAGE) if isinstance(opened, Mapping) and len(opened) == 1 else None
        if isinstance(message, Mapping) and isinstance(message.get("headers"), Mapping):
            return _message_mentions(message, names, value)
        return _says(record, value) if opened is None else _holds(opened, names, value)
    except (ValueError, RecursionError):
        return _says(record, value)


def same(found: Any, value: str) -> bool:
    """Whether a value of a log is the one that was asked for on a command line."""
    if found is None or isinstance(found, str):
        return bool(found == value)
    return json.dumps(found) == value or (isinstance(found, float) and as_text(found) == value)


def by_names(value: Any) -> Any:
    """The same with lists of names and their values as objects: maps in Parquet logs were once kept as such lists."""
    if isinstance(value, dict):
        return {key: by_names(one) for key, one in value.items()}
    named = isinstance(value, list) and value and all(isinstance(one, list) and len(one) == 2 for one in value)
    if named and all(isinstance(name, str) for name, _ in value):
        return {name: by_names(one) for name, one in value}
    return value


def _spellings(name: str) -> set[str]:
    """The keys that may hold what a dotted name leads to: a log can be nested, flat or something in between."""
    steps = [step for step in name.split(".") if not step.isdecimal()]
    return {name, *(".".join(steps[first:]) for first in range(len(steps)))}


def _message_mentions(message: Mapping[str, Any], names: set[str] | None, value: str) -> bool:
    """A message's key often is the person, under no name."""
    key, body = _text(message.get("key")), _text(message.get("value"))
    headers = {name: _text(one) for name, one in message["headers"].items()}
    opened = _read(body)
    if opened is None:
        raw = (message.get("key"), message.get("value"), *message["headers"].values())
        said = any(_says(part, value) for part in (key, body, *headers, *headers.values()))
        return said or any(holds_number(_bytes(part), value) for part in raw)
    named = _holds(opened, names, value) or _holds(headers, names, value) or _holds(key or None, names, value, True)
    return named or is_number(_bytes(message.get("key")), value)


def _text(value: Any) -> str:
    """A message's bytes as text; those that are none are kept as base64."""
    if isinstance(value, Mapping) and isinstance(value.get("base64"), str):
        return _bytes(value).decode(errors="replace")
    return value if isinstance(value, str) else json.dumps(value) if value is not None else ""


def _bytes(value: Any) -> bytes:
    if isinstance(value, Mapping) and isinstance(value.get("base64"), str):
        return base64.b64decode(value["base64"])
    return value.encode("utf-8", "surrogatepass") if isinstance(value, str) else b""


def _read(text: str) -> Any:
    """The object or list of objects that a text is, perhaps as a JSON string; None where it has no names to go by."""
    opened = _opened(text)
    if isinstance(opened, str):
        return _read(opened)
    ones = opened if isinstance(opened, list) else [opened]
    return opened if ones and all(isinstance(one, Mapping) for one in ones) else None


def _opened(text: str) -> Any:
    try:
        found = json.loads(text.removeprefix("\ufeff"))
    except (ValueError, RecursionError):
        return None
    return None if is_too_deep(found) else found


def _holds(part: Any, names: set[str] | None, value: str, named: bool = False) -> bool:
    """Whether the value is in a part of a record, under one of the names or, without any, anywhere."""
    if (named or names is None) and same(part, value):
        return True
    if isinstance(part, Mapping):
        return any(_holds(one, names, value, names is not None and key in names) for key, one in part.items())
    if isinstance(part, list):
        # A map in a Parquet log was once kept as a list of names and their values.
        if len(part) == 2 and isinstance(part[0], str) and part[0] in (names or ()):
            return _holds(part[1], names, value, True)
        return any(_holds(one, names, value, named) for one in part)
    start = part.lstrip("\ufeff \t\r\n")[:1] if isinstance(part, str) else ""
    if start not in ("{", "[", '"'):
        return False
    opened = _opened(part)
    if opened is None:
        return start != '"' and _says(part, value)  # JSON that was cut short; a quotation is no more than a text
    return _holds(opened, names, value, named)


def _says(text: str, value: str) -> bool:
    """Whether a text holds the value, however it is escaped: JSON in JSON, UTF-16, hexadecimals of either case."""
    bare = _bare(text)
    return any(form and form in bare for form in {_bare(value), _bare(json.dumps(value)[1:-1])})


def _bare(text: str) -> str:
    return text.translate(_UNSEEN).casefold()
