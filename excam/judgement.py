"""What a judge says of one text: a judgement, or a typed failure that becomes a dead letter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from excam.report import ErrorReport, Status, parse_report
from excam.score import score
from excam.span import locate
from excam.taxonomy import categorise


@dataclass(frozen=True, slots=True)
class Judgement:
    """The judge's answer for one pair; ``report`` is its canonical text, from which everything else follows.

    ``second_look`` says that the text speaks to the judge, and that without those passages it was found graver.
    """

    status: Status
    score: float | None
    p_error: float
    p_report: float
    report: str
    guided: bool = False
    truncated: bool = False
    second_look: bool = False

    @classmethod
    def of(
        cls, report: ErrorReport, p_error: float, p_report: float, *, guided: bool = False, truncated: bool = False
    ) -> Judgement:
        return cls(report.status, score(report, p_report), p_error, p_report, report.render(), guided, truncated)


@dataclass(frozen=True, slots=True)
class JudgeFailure:
    """A pair that could not be judged: a stable reason to count by, and the particulars to look into."""

    reason: str
    detail: str


def error_rows(report: str, instruction: str, output: str) -> list[dict[str, Any]]:
    """A report's errors as rows for the store: spans located in the text, types mapped onto the taxonomy."""
    parsed = parse_report(report)
    if not isinstance(parsed, ErrorReport):
        raise ValueError(f"not a report: {parsed.message}")
    rows = []
    for error in parsed.errors or ():
        place = locate(error, instruction, output)
        rows.append(
            {
                "severity": error.severity.value,
                "type": error.type,
                "category": categorise(error.type).value,
                "location": place.location.value,
                "span": error.span,
                "start": place.start,
                "end": place.end,
                "match": place.how,
                "explanation": error.explanation,
            }
        )
    return rows
