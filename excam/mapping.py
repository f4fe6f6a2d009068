"""From a user's columns to logged pairs: a small YAML says which column is what; common names need none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import yaml
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, ValidationInfo, field_validator

from excam.country import from_yaml, normalise
from excam.fault import UserError
from excam.pair import LoggedPair, as_text, content_hash, is_time
from excam.redact import KINDS, Redactor, redacted_id, redactor
from excam.shapes import (
    FLAT_NAMES,
    TIME_NAMES,
    BadFieldError,
    columns_of,
    flat_fields,
    is_too_deep,
    look_up,
    messages_fields,
    otel_fields,
    parsed,
    shape_of,
)

FIELDS = ("pair_id", "instruction", "output", "logged_at", "country", "language", "app", "model")
ID_KINDS = ("email", "iban", "ip", "card")  # an id is no prose: a number in it is seldom a telephone
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
    redact: Literal["all"] | tuple[str, ...] = Field(default=(), description=f"all, or some of: {', '.join(KINDS)}")
    redact_patterns: dict[str, str] = Field(
        default_factory=dict, description="a name: a regular expression of your own"
    )
    redact_regions: tuple[Annotated[str, BeforeValidator(from_yaml)], ...] = Field(
        default=(), description="countries whose national phone numbers to find"
    )

    @field_validator("fields", "constants")
    @classmethod
    def _known_fields(cls, value: dict[str, str]) -> dict[str, str]:
        for field in value:
            if field not in FIELDS:
                raise ValueError(f"{field!r} is no field of a pair; these are: {', '.join(FIELDS)}")
        return value

    @field_validator("redact", mode="before")
    @classmethod
    def _known_kinds(cls, value: Any) -> Any:
        if value != "all" and not isinstance(value, list | tuple):
            raise ValueError(f"expected all, or a list of some of [{', '.join(KINDS)}], found {value!r:.80}")
        for kind in () if value == "all" else value:
            if kind not in KINDS:
                raise ValueError(f"{kind!r:.80} is nothing this version redacts; these are: {', '.join(KINDS)}")
        return value

    @field_validator("redact_regions")
    @classmethod
    def _known_regions(cls, value: tuple[str, ...], info: ValidationInfo) -> tuple[str, ...]:
        redacted = info.data.get("redact", "all")
        if value and redacted != "all" and "phone" not in redacted:
            raise ValueError("these are for phone numbers, which redact does not name: add phone to its list")
        codes = tuple(map(normalise, value))
        for region, code in zip(value, codes, strict=True):
            if code is None:
                raise ValueError(f"{region!r:.80} is no country this version knows; try its code, such as ID")
        return tuple(filter(None, codes))

    @field_validator("redact_patterns")
    @classmethod
    def _sound_patterns(cls, value: dict[str, str]) -> dict[str, str]:
        for name, pattern in value.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"{name}: not a regular expression: {error}") from error
        return value

    @property
    def redacts(self) -> bool:
        """Whether anything is taken out of texts before they are kept or judged."""
        return bool(self.redact or self.redact_patterns)

    def _redactor(self, only: tuple[str, ...] = KINDS) -> Redactor:
        kinds = tuple(kind for kind in (KINDS if self.redact == "all" else self.redact) if kind in only)
        return redactor(kinds, tuple(self.redact_patterns.items()), self.redact_regions)

    def redacted(self, value: Any) -> Any:
        """A record, or a message about one, without what must not be kept."""
        return self._redactor().value(value, Counter()) if self.redacts else value

    def kept(self, record: Mapping[str, Any]) -> dict[str, Any]:
        """A record as a dead letter keeps it: redacted, and such that a replay makes the same pair of it.

        For that its time stays, and its id is the one that a pair has.
        """
        kept: dict[str, Any] = self.redacted(dict(record))
        if self.redacts:
            names = [self.fields["pair_id"]] if "pair_id" in self.fields else FLAT_NAMES["pair_id"]
            bearing = next((name for name in names if look_up(record, name) is not None), None)
            if bearing is not None:
                own = look_up(record, bearing)
                kept[bearing] = self._safe_id(as_text(own), Counter()) or own
            for name in filter(None, (self.fields.get("logged_at"), *TIME_NAMES)):
                if is_time(value := look_up(record, name)):
                    kept[name] = value
        return kept

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
            said = first["msg"].removeprefix("Value error, ")
            raise UserError(f"mapping file {path}, {where}: {said}", fix) from error

    def read(self, record: Mapping[str, Any], received_at: int | None = None) -> LoggedPair | BadField:
        """One record as a pair, or the field that stops it being one; never an exception.

        ``received_at`` (epoch milliseconds) is when a record without a time of its own came in.
        """
        try:
            return self._pair(record, received_at)
        except BadFieldError as error:
            return BadField(error.field, str(self.redacted(error.message)))
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            field = str(first["loc"][0]) if first["loc"] else "record"
            return BadField(
                self.fields.get(field, field), str(self.redacted(first["msg"].removeprefix("Value error, ")))
            )

    def _pair(self, record: Mapping[str, Any], received_at: int | None) -> LoggedPair:
        if is_too_deep(record):
            raise BadFieldError("record", "is nested too deep")
        shape = shape_of(list(record)) if self.shape == "auto" else self.shape
        given = {"instruction", "output"} <= {*self.fields, *self.constants}
        found: dict[str, Any] = flat_fields(record) if given else READERS[shape](record)
        for field, path in self.fields.items():
            value = look_up(record, path)
            found.pop(field, None)
            if value is not None:
                found[field] = value
        found.update(self.constants)
        if found.get("logged_at") is None and received_at is not None:
            found["logged_at"] = received_at
        for field in ("instruction", "output", "logged_at"):
            if found.get(field) is None:
                what = f"is missing or null; the record has {columns_of(record)}; --mapping says which is which"
                raise BadFieldError(self.fields.get(field, field), what)
        for field in ("instruction", "output"):
            if not isinstance(found[field], str):
                found_type = type(found[field]).__name__
                raise BadFieldError(self.fields.get(field, field), f"expected text, found {found_type}")
        for field in TEXT_FIELDS:
            value = found.pop(field, None)
            if value is not None and value == value:  # NaN is how some tools write that there is none
                found[field] = as_text(value)
        metadata = found.get("metadata")
        found["metadata"] = dict(metadata) if isinstance(metadata, Mapping) else _loose_metadata(metadata)
        for column in self.metadata:
            found["metadata"][column] = look_up(record, column)
        if self.redacts:
            self._redact(found)
        named = f"{as_text(found['logged_at'])}|{found['instruction']}"
        found.setdefault("pair_id", content_hash(named, found["output"]))
        return LoggedPair.model_validate(found)

    def _redact(self, found: dict[str, Any]) -> None:
        """Take out what must not be kept, before an id is made of the text; what was found is counted beside it."""
        counts: Counter[str] = Counter()
        for field in ("instruction", "output", "metadata"):
            found[field] = self._redactor().value(found[field], counts)
        if safe_id := self._safe_id(found.get("pair_id"), counts):
            found["pair_id"] = safe_id
        if counts:
            found["metadata"]["redacted"] = dict(counts)

    def _safe_id(self, name: str | None, counts: Counter[str]) -> str | None:
        """For an id that gives something away its hash, which still tells pairs apart; None for any other."""
        if name is None or self._redactor(ID_KINDS).text(name, counts) == name:
            return None
        return redacted_id(name)


def _loose_metadata(value: Any) -> dict[str, Any]:
    """Metadata logged as JSON text is opened, anything else is kept under one key rather than lost."""
    opened = parsed(value)
    if isinstance(opened, Mapping):
        return dict(opened)
    return {} if value is None else {"metadata": value}
