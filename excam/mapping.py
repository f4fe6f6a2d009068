"""From a user's columns to logged pairs: a small YAML says which column is what; common names need none."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from excam.fault import UserError
from excam.pair import LoggedPair, content_hash
from excam.shapes import BadFieldError, flat_fields, look_up, messages_fields, otel_fields, parsed, shape_of

FIELDS = ("pair_id", "instruction", "output", "logged_at", "country", "language", "app", "model")
TEXT_FIELDS = ("pair_id", "country", "language", "app", "model")
READERS: Mapping[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
    "flat": flat_fields,
    "messages": messages_fields,
    "otel": otel_fields,
}


@dataclass(frozen=True)
class BadField:
    """A record that is not a pair: which field is wrong and what was found there."""

    field: str
    message: str

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class RecordMapping(BaseModel):
    """How a user's records become pairs: their shape, their column for each field, and fields with one fixed value."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    shape: Literal["auto", "flat", "messages", "otel"] = "auto"
    fields: dict[str, str] = Field(default_factory=dict, description="pair field: column, or a path such as a.b.0.c")
    constants: dict[str, str] = Field(default_factory=dict, description="pair field: one value for every record")
    metadata: tuple[str, ...] = Field(default=(), description="further columns to keep with the pair")

    @field_validator("fields", "constants")
    @classmethod
    def _known_fields(cls, value: dict[str, str]) -> dict[str, str]:
        for field in value:
            if field not in FIELDS:
                raise ValueError(f"{field!r} is no field of a pair; these are: {', '.join(FIELDS)}")
        return value

    @classmethod
    def load(cls, path: str | Path) -> RecordMapping:
        """Read a mapping file; what is wrong with it is said with the file's name and the field."""
        fix = "see docs/your-logs.md for the form of a mapping file"
        try:
            found = yaml.safe_load(Path(path).read_text(encoding="utf-8"))
        except OSError as error:
            raise UserError(f"mapping file {path}: {error.strerror}", fix) from error
        except (yaml.YAMLError, UnicodeDecodeError) as error:
            raise UserError(f"mapping file {path} is not YAML: {error}", fix) from error
        try:
            return cls.model_validate(found or {})
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            where = ".".join(str(step) for step in first["loc"]) or "file"
            raise UserError(f"mapping file {path}, {where}: {first['msg']}", fix) from error

    def read(self, record: Mapping[str, Any]) -> LoggedPair | BadField:
        """One record as a pair, or the field that stops it being one; never an exception."""
        try:
            return self._pair(record)
        except BadFieldError as error:
            return BadField(error.field, error.message)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = str(first["loc"][0]) if first["loc"] else "record"
            return BadField(self.fields.get(field, field), first["msg"].removeprefix("Value error, "))

    def _pair(self, record: Mapping[str, Any]) -> LoggedPair:
        shape = shape_of(list(record)) if self.shape == "auto" else self.shape
        given = {"instruction", "output"} <= {*self.fields, *self.constants}
        found: dict[str, Any] = flat_fields(record) if given else READERS[shape](record)
        for field, path in self.fields.items():
            value = look_up(record, path)
            found.pop(field, None)
            if value is not None:
                found[field] = value
        found.update(self.constants)
        for field in ("instruction", "output", "logged_at"):
            if found.get(field) is None:
                raise BadFieldError(self.fields.get(field, field), "is missing or null")
        for field in ("instruction", "output"):
            if not isinstance(found[field], str):
                found_type = type(found[field]).__name__
                raise BadFieldError(self.fields.get(field, field), f"expected text, found {found_type}")
        for field in TEXT_FIELDS:
            if found.get(field) is not None:
                found[field] = str(found[field])
        metadata = found.get("metadata")
        found["metadata"] = dict(metadata) if isinstance(metadata, Mapping) else _loose_metadata(metadata)
        for column in self.metadata:
            found["metadata"][column] = look_up(record, column)
        found.setdefault("pair_id", content_hash(f"{found['logged_at']}|{found['instruction']}", found["output"]))
        return LoggedPair.model_validate(found)


def _loose_metadata(value: Any) -> dict[str, Any]:
    """Metadata logged as JSON text is opened, anything else is kept under one key rather than lost."""
    opened = parsed(value)
    if isinstance(opened, Mapping):
        return dict(opened)
    return {} if value is None else {"metadata": value}
