"""The three shapes logs come in, each read without code by the user: flat columns, chat messages, OTel GenAI spans."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any

Record = Mapping[str, Any]

FLAT_NAMES: Mapping[str, tuple[str, ...]] = {
    "pair_id": ("pair_id", "id", "request_id", "trace_id", "uuid", "message_id"),
    "instruction": ("instruction", "prompt", "question", "input", "query", "request", "user_message"),
    "output": ("output", "response", "answer", "completion", "reply", "generation", "assistant_message"),
    "logged_at": ("logged_at", "timestamp", "created_at", "created", "time", "ts", "date", "@timestamp"),
    "country": ("country", "country_code", "region"),
    "language": ("language", "lang", "locale"),
    "app": ("app", "application", "service", "product"),
    "model": ("model", "model_name", "model_id"),
    "metadata": ("metadata",),
}
SPAN_TIMES = ("start_time_unix_nano", "startTimeUnixNano", "start_time", "timestamp")
TIME_NAMES = (*FLAT_NAMES["logged_at"], *SPAN_TIMES)
CHAT_COLUMNS = ("messages", "conversation", "conversations")
DEEPEST = 100  # levels a record may be nested: what walks it does so by recursion, which Python ends at some 900
NAMED = 10, 40  # columns of a record that a message names, and characters of each: they are whatever a log holds


class BadFieldError(ValueError):
    """A field of one record that cannot be read: named, with what was found instead."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


def look_up(record: Record, path: str) -> Any:
    """The value at a column name or a dotted path such as ``response.choices.0.message.content``; None if absent."""
    if path in record:
        return record[path]
    value: Any = record
    for step in path.split("."):
        value = parsed(value)
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, Sequence) and not isinstance(value, str | bytes) and re.fullmatch(r"-?\d{1,6}", step):
            value = value[int(step)] if -len(value) <= int(step) < len(value) else None
        else:
            return None
    return value


def parsed(value: Any) -> Any:
    """Structured values often travel as JSON text: read it if it is, leave it alone if it is not or is too deep."""
    if isinstance(value, str) and value[:1] in ("{", "["):
        try:
            found = json.loads(value)
        except (ValueError, RecursionError):
            return value
        return value if is_too_deep(found) else found
    return value


def is_too_deep(value: Any) -> bool:
    """Whether lists and objects stand in each other deeper than any log has use for; found without recursion."""
    level = [value]
    for _ in range(DEEPEST):
        level = [one for held in level for one in _held(held)]
        if not level:
            return False
    return True


def _held(value: Any) -> Iterable[Any]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list | tuple) else ()


def columns_of(record: Record) -> str:
    """The names of a record's columns for a message, the first of them where there are many."""
    most, longest = NAMED
    names = [repr(str(name)[:longest]) for name in islice(record, most)]
    return ", ".join(names + ["…"] * (len(record) > most)) or "no columns"


def flat_fields(record: Record) -> dict[str, Any]:
    """Columns by their usual names; the first that is present wins."""
    found = {}
    for field, names in FLAT_NAMES.items():
        value = next((record[name] for name in names if record.get(name) is not None), None)
        if value is not None:
            found[field] = value
    return found


def content_text(content: Any, field: str) -> str:
    """A message's text: a string, or the text parts of a list of parts, with a mark where another medium stood."""
    content = parsed(content) if isinstance(content, str) and content.startswith("[{") else content
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence) or isinstance(content, bytes):
        raise BadFieldError(field, f"expected text or a list of parts, found {type(content).__name__}")
    texts = []
    for part in content:
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping):
            text = next((part[key] for key in ("text", "content") if isinstance(part.get(key), str)), None)
            texts.append(text if text is not None else f"[{part.get('type') or 'attachment'}]")
        else:
            raise BadFieldError(field, f"expected text or an object as a part, found {type(part).__name__}")
    return "\n".join(texts)


def turns(messages: Any, field: str) -> list[tuple[str, str]]:
    """A messages array as (role, text), whatever of the usual spellings it uses."""
    messages = parsed(messages)
    if not isinstance(messages, Sequence) or isinstance(messages, str | bytes):
        raise BadFieldError(field, f"expected a list of messages, found {type(messages).__name__}")
    read = []
    for number, message in enumerate(messages):
        if not isinstance(message, Mapping):
            raise BadFieldError(f"{field}[{number}]", f"expected an object, found {type(message).__name__}")
        role = str(message.get("role") or message.get("from") or "").lower()
        role = {"human": "user", "gpt": "assistant", "model": "assistant", "developer": "system"}.get(role, role)
        content = next((message[key] for key in ("content", "parts", "value", "text") if message.get(key)), None)
        read.append((role, content_text(content, f"{field}[{number}].content")))
    return read


def conversation(said: list[tuple[str, str]], field: str) -> str:
    """The last user turn and, where anything was said before it, that conversation in front of it."""
    if not any(role == "user" for role, _ in said):
        raise BadFieldError(field, "holds no user turn")
    last = max(index for index, (role, _) in enumerate(said) if role == "user")
    before = [f"{role.capitalize() or 'Unknown'}: {text}" for role, text in said[:last] if text.strip()]
    asked = said[last][1]
    return "\n".join([*before, f"User: {asked}"]) if before else asked


def messages_fields(record: Record) -> dict[str, Any]:
    """An OpenAI-style chat log: the answer is the assistant's after the last user turn, or the logged response."""
    fields = flat_fields(record)
    field = next((name for name in CHAT_COLUMNS if record.get(name) is not None), None)
    messages = record[field] if field else look_up(record, "request.messages")
    field = field or "messages"
    if messages is None:
        raise BadFieldError(field, "is missing")
    said = turns(messages, field)
    fields["instruction"] = conversation(said, field)
    last = max(index for index, (role, _) in enumerate(said) if role == "user")
    answers = [text for role, text in said[last + 1 :] if role == "assistant" and text.strip()]
    answer: Any = answers[-1] if answers else None
    for path in ("response.choices.0.message.content", "choices.0.message.content"):
        answer = look_up(record, path) if answer is None else answer
    fields["output"] = content_text(answer if answer is not None else fields.get("output"), "output")
    for field, path in (("model", "response.model"), ("pair_id", "response.id"), ("logged_at", "response.created")):
        if field not in fields and look_up(record, path) is not None:
            fields[field] = look_up(record, path)
    return fields


def _indexed(attributes: Record, prefix: str) -> list[dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    for key, value in attributes.items():
        match = re.fullmatch(rf"{re.escape(prefix)}\.(\d{{1,4}})\.(role|content)", key)
        if match:
            found.setdefault(int(match[1]), {})[match[2]] = value
    return [found[index] for index in sorted(found)]


def _attributes(value: Any) -> dict[str, Any]:
    """Span attributes as a plain mapping: already one, or OTLP's list of {key, value: {stringValue: …}}."""
    value = parsed(value)
    if isinstance(value, Mapping):
        return dict(value)
    plain: dict[str, Any] = {}
    for entry in value if isinstance(value, Sequence) and not isinstance(value, str | bytes) else ():
        if isinstance(entry, Mapping) and "key" in entry:
            held = entry.get("value")
            plain[str(entry["key"])] = next(iter(held.values()), None) if isinstance(held, Mapping) else held
        elif isinstance(entry, tuple) and len(entry) == 2:
            plain[str(entry[0])] = entry[1]
    return plain


def otel_fields(record: Record) -> dict[str, Any]:
    """A span of OpenTelemetry's GenAI conventions: messages as attributes, old and new spelling, OTLP or flattened."""
    attributes = {key: value for key, value in record.items() if str(key).startswith("gen_ai.")}
    attributes |= _attributes(record.get("attributes"))
    resource = _attributes(look_up(record, "resource.attributes"))
    asked = attributes.get("gen_ai.input.messages") or _indexed(attributes, "gen_ai.prompt")
    answered = attributes.get("gen_ai.output.messages") or _indexed(attributes, "gen_ai.completion")
    if not asked:
        raise BadFieldError("attributes.gen_ai.input.messages", "is missing")
    said = turns(asked, "attributes.gen_ai.input.messages")
    system = content_text(parsed(attributes.get("gen_ai.system_instructions")), "attributes.gen_ai.system_instructions")
    said = [("system", system), *said] if system.strip() else said
    answers = turns(answered or [], "attributes.gen_ai.output.messages")
    span = next((record[key] for key in ("span_id", "spanId") if record.get(key)), None)
    trace = next((record[key] for key in ("trace_id", "traceId") if record.get(key)), None)
    found = {
        "pair_id": f"{trace}-{span}" if trace and span else span or trace,
        "instruction": conversation(said, "attributes.gen_ai.input.messages"),
        "output": "\n".join(text for _, text in answers),
        "logged_at": next((record[key] for key in SPAN_TIMES if record.get(key) is not None), None),
        "model": attributes.get("gen_ai.response.model") or attributes.get("gen_ai.request.model"),
        "app": resource.get("service.name") or record.get("service.name"),
    }
    return {key: value for key, value in found.items() if value is not None}


def shape_of(columns: Sequence[str]) -> str:
    """Which shape a log has, told by its columns."""
    if any(column == "attributes" or column.startswith("gen_ai.") for column in columns):
        return "otel"
    if any(column in CHAT_COLUMNS for column in columns):
        return "messages"
    return "flat"
