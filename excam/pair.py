"""The logged pair: what every source is turned into before anything else happens to it."""

from __future__ import annotations

import hashlib
import json
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator

from excam.language import language_code

EARLIEST = datetime(1990, 1, 1, tzinfo=UTC)
LATEST = datetime(2200, 1, 1, tzinfo=UTC)


def content_hash(instruction: str, output: str) -> str:
    """Identity of a pair's text, by which a text is kept once and judged once; lengths keep the halves apart."""
    digest = hashlib.blake2b(digest_size=16)
    digest.update(str(len(instruction)).encode() + b"\0")
    digest.update(instruction.encode("utf-8", "surrogatepass"))
    digest.update(output.encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def sample_position(pair_id: str) -> float:
    """Where a pair id falls in [0, 1): a share of the traffic is every pair below that share, the same every run."""
    return int.from_bytes(hashlib.blake2b(pair_id.encode("utf-8", "replace"), digest_size=8).digest()) / 2**64


def as_text(value: Any) -> str:
    """A value of a log as text, a whole number without a fraction: one missing value makes floats of a whole column.

    From 2**53 on a float no longer says which integer it was, and stays as it is.
    """
    return str(int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 2**53 else value)


def parse_time(value: Any) -> datetime:
    """A moment in UTC from what logs hold: ISO 8601 text, a datetime, or epoch seconds, milli-, micro-, nanoseconds.

    A day without an hour is its midnight.
    """
    if isinstance(value, str):
        text = value.strip()
        try:
            value = float(text)
        except ValueError:
            value = datetime.fromisoformat(text.removesuffix(" UTC"))
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, datetime):
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    elif isinstance(value, date):
        moment = datetime.combine(value, time(), UTC)
    elif isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e20:
        seconds = float(value)
        while seconds >= 1e11:
            seconds /= 1000
        moment = datetime.fromtimestamp(seconds, UTC)
    else:
        raise ValueError(f"not a time: {value!r:.80}")
    if not EARLIEST <= moment < LATEST:
        raise ValueError(f"{moment:%Y-%m-%d} is outside {EARLIEST:%Y}–{LATEST:%Y}")
    return moment


def is_time(value: Any) -> bool:
    """Whether a value of a log is a moment that a pair may have been logged at."""
    try:
        parse_time(value)
    except (ValueError, OverflowError, OSError):
        return False
    return True


class LoggedPair(BaseModel):
    """One instruction and the output a chatbot gave to it, as logged."""

    model_config = ConfigDict(frozen=True, extra="forbid", str_max_length=20_000_000)

    pair_id: str = Field(min_length=1, max_length=500)
    instruction: str = Field(description="what was asked, with the conversation before it where there was one")
    output: str = Field(description="what the chatbot answered")
    logged_at: datetime
    country: str | None = Field(default=None, description="what the log itself says the pair is about, any spelling")
    language: str | None = Field(default=None, description="the instruction's, by its code where it has one")
    app: str | None = None
    model: str | None = None
    metadata: dict[str, Any] = Field(default_factory=dict)

    @field_validator("logged_at", mode="before")
    @classmethod
    def _moment(cls, value: Any) -> datetime:
        try:
            return parse_time(value)
        except (OverflowError, OSError) as error:
            raise ValueError(f"not a time: {error}") from error

    @field_validator("country", "language", "app", "model")
    @classmethod
    def _named_or_not(cls, value: str | None) -> str | None:
        """A log that leaves a field blank says nothing by it, and no filter could name what it says."""
        return value if value and value.strip() else None

    @field_validator("language")
    @classmethod
    def _code(cls, value: str | None) -> str | None:
        return value and (language_code(value) or value)

    @field_validator("instruction", "output")
    @classmethod
    def _not_blank(cls, value: str) -> str:
        if not value.strip():
            raise ValueError("is empty")
        return value

    @property
    def content_hash(self) -> str:
        return content_hash(self.instruction, self.output)

    @property
    def metadata_json(self) -> str | None:
        """The metadata as JSON text; half a character, which no store takes, becomes a question mark."""
        if not self.metadata:
            return None
        return (
            json.dumps(self.metadata, ensure_ascii=False, default=str, sort_keys=True)
            .encode("utf-8", "replace")
            .decode()
        )
