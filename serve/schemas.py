"""What goes over HTTP: typed, bounded, and documented by OpenAPI."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from excam.judgement import JudgeFailure, Judgement, error_rows
from excam.report import Location, Severity, Status

MAX_PAIRS = 256
MAX_CHARACTERS = 2_000_000
MAX_BODY_BYTES = 8 * 2**20
MAX_FIELDS = 20  # of a pair that are looked at: each one too many is an error of its own

Text = Annotated[str, StringConstraints(min_length=1, max_length=MAX_CHARACTERS)]


class PairIn(BaseModel):
    """An instruction and the output a chatbot gave to it."""

    model_config = ConfigDict(extra="forbid")

    instruction: Text
    output: Text
    pair_id: Annotated[str, StringConstraints(max_length=500)] | None = Field(
        default=None, description="given back with the verdict, so that answers can be matched"
    )

    @model_validator(mode="before")
    @classmethod
    def _has_few_fields(cls, given: Any) -> Any:
        if isinstance(given, dict) and len(given) > MAX_FIELDS:
            raise ValueError(f"{len(given):,} fields, where a pair has {', '.join(cls.model_fields)}")
        return given


class ErrorOut(BaseModel):
    """One cultural error with its place in the text, as character offsets; -1 where the span was not found."""

    severity: Severity
    type: str
    category: str
    location: Location
    span: str
    start: int
    end: int
    match: str
    explanation: str


class VerdictOut(BaseModel):
    """What the judge says of a pair: the paper's score, P(error), and every error found."""

    outcome: Literal["verdict"] = "verdict"
    pair_id: str | None
    status: Status
    score: float | None = Field(description="-1 a minor error, -5 a major one, summed; with none p(R) in (0, 1]")
    p_error: float
    p_report: float
    errors: list[ErrorOut]
    guided: bool = Field(description="written under a grammar because a free report could not be parsed")
    truncated: bool = Field(description="judged on a text whose middle was left out for its length")
    second_look: bool = Field(description="the text speaks to the judge, and was found graver without those passages")


class FailureOut(BaseModel):
    """A pair that could not be judged, and why; the other pairs of the request are not affected."""

    outcome: Literal["failure"] = "failure"
    pair_id: str | None
    reason: str
    detail: str


class JudgedOut(BaseModel):
    """The outcomes of a request in the order of its pairs, and which judge gave them."""

    judge_version: str
    tuned: bool = Field(description="false for a base model without adapter: its verdicts are not to be relied on")
    outcomes: list[VerdictOut | FailureOut]


def outcome_of(pair: PairIn, answer: Judgement | JudgeFailure) -> VerdictOut | FailureOut:
    """A judge's answer in the form HTTP clients see."""
    if isinstance(answer, JudgeFailure):
        return FailureOut(pair_id=pair.pair_id, reason=answer.reason, detail=answer.detail[:2000])
    rows = error_rows(answer.report, pair.instruction, pair.output)
    return VerdictOut(
        pair_id=pair.pair_id,
        status=answer.status,
        score=answer.score,
        p_error=answer.p_error,
        p_report=answer.p_report,
        errors=[ErrorOut.model_validate(row) for row in rows],
        guided=answer.guided,
        truncated=answer.truncated,
        second_look=answer.second_look,
    )
