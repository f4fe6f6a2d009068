"""The error report: what the judge writes, and the strict parser that reads it back.

The JSON begins with the decision, so that it is one token deep: ``{"errors": []}`` says the pair is correct,
``{"errors": [{…}]}`` lists its cultural errors, ``{"errors": null}`` says there is nothing cultural to judge.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Literal, NoReturn

from pydantic import BaseModel, ConfigDict, Field, ValidationError

MAX_REPORT_CHARACTERS = 200_000


class Severity(StrEnum):
    """How grave an error is; the score weighs a major one five times a minor one."""

    MINOR = "minor"
    MAJOR = "major"


class Location(StrEnum):
    """Which half of the pair an error stands in: the metric counts errors in both."""

    INSTRUCTION = "instruction"
    OUTPUT = "output"


class Status(StrEnum):
    """The outcome of judging a pair; ``not_applicable`` keeps ordinary traffic out of the rates."""

    ERROR = "error"
    CORRECT = "correct"
    NOT_APPLICABLE = "not_applicable"


class CulturalError(BaseModel):
    """One cultural error as the judge states it, with the verbatim span it points at."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    severity: Severity
    type: str = Field(min_length=1, description="free text, mapped to the taxonomy for trends")
    location: Location
    span: str = Field(min_length=1, description="the offending words, verbatim")
    explanation: str = Field(min_length=1)


class ErrorReport(BaseModel):
    """All errors of one pair; ``errors`` is None when the pair is not about culture at all."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    errors: tuple[CulturalError, ...] | None

    @property
    def status(self) -> Status:
        if self.errors is None:
            return Status.NOT_APPLICABLE
        return Status.ERROR if self.errors else Status.CORRECT

    def render(self) -> str:
        """The one canonical text of this report: what training teaches and what the parser reads."""
        errors = None if self.errors is None else [error.model_dump(mode="json") for error in self.errors]
        return json.dumps({"errors": errors}, ensure_ascii=False)


OPENING = '{"errors":'
CORRECT_REPORT = ErrorReport(errors=())
NOT_APPLICABLE_REPORT = ErrorReport(errors=None)

FailureKind = Literal["empty", "too_long", "not_json", "duplicate_key", "wrong_shape"]


@dataclass(frozen=True)
class ParseFailure:
    """Why a text is not a report, with the text itself: kept as data, so that nothing reads it as "no errors"."""

    kind: FailureKind
    message: str
    text: str


class _DuplicateKeyError(ValueError):
    pass


def _unique(items: list[tuple[str, Any]]) -> dict[str, Any]:
    keys = dict(items)
    if len(keys) != len(items):
        raise _DuplicateKeyError("a key stands twice in one object")
    return keys


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def parse_report(text: str) -> ErrorReport | ParseFailure:
    """Read exactly one report. Anything else, however close, is a typed failure and never an exception."""
    if not text.strip():
        return ParseFailure("empty", "the judge wrote nothing", text)
    if len(text) > MAX_REPORT_CHARACTERS:
        return ParseFailure("too_long", f"{len(text)} characters, at most {MAX_REPORT_CHARACTERS}", text)
    try:
        found = json.loads(text, object_pairs_hook=_unique, parse_constant=_refuse_constant)
    except _DuplicateKeyError as error:
        return ParseFailure("duplicate_key", str(error), text)
    except (ValueError, RecursionError) as error:
        return ParseFailure("not_json", f"{error}", text)
    try:
        return ErrorReport.model_validate(found)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "report"
        return ParseFailure("wrong_shape", f"{where}: {first['msg']}", text)


def report_grammar(*, errors_only: bool = False) -> str:
    """The grammar (EBNF) that guided decoding follows when a free report could not be parsed.

    It leaves no room between the parts of a report but the one blank that judges learned: where any blanks may stand
    a judge can go on with blanks for ever. ``errors_only`` leaves no way to write a clean report: for pairs that the
    decision has already found in error.
    """
    severity, location = (" | ".join(_quoted(f'"{value}"') for value in kind) for kind in (Severity, Location))
    text = r'[^"\\\x00-\x1f\x7f]'
    several = '"[" error (", " error)? "]"'
    return f"""
root ::= {_quoted('{"errors": ')} errors "}}"
errors ::= {several if errors_only else several + ' | "[]" | "null"'}
error ::= {_quoted('{"severity": ')} severity {_quoted(', "type": "')} type {_quoted('", "location": ')} location {
        _quoted(', "span": "')
    } span {_quoted('", "explanation": "')} explanation {_quoted('"}')}
severity ::= {severity}
location ::= {location}
type ::= {text}{{1,40}}
span ::= {text}{{1,80}}
explanation ::= {text}{{1,160}}
"""


def _quoted(literal: str) -> str:
    return json.dumps(literal)
