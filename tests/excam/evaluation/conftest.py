"""A judged table whose truth is known: four sources, twins in two wordings, and a judge that is right where we say."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from excam.evaluation.judged import Judged, Run, judged_table
from excam.report import CORRECT_REPORT, NOT_APPLICABLE_REPORT, CulturalError, ErrorReport, Location, Severity

Rows = list[dict[str, Any]]
MakeRow = Callable[..., dict[str, Any]]
MakeJudged = Callable[..., Judged]


def report_of(label: str, severity: Severity = Severity.MAJOR, span: str = "wrong") -> str:
    """The true report of a sample with this label."""
    if label == "correct":
        return CORRECT_REPORT.render()
    if label == "not_applicable":
        return NOT_APPLICABLE_REPORT.render()
    explanation = f"It should be 'right', not '{span}'."
    error = CulturalError(
        severity=severity, type="incorrect information", location=Location.OUTPUT, span=span, explanation=explanation
    )
    return ErrorReport(errors=(error,)).render()


@pytest.fixture
def make_row() -> MakeRow:
    """One row of a judged table; what is not said is plausible."""

    def make(number: int, label: str, says: str | None, **changes: Any) -> dict[str, Any]:
        source = changes.get("source", "blend")
        p_error = {"error": 0.9, None: None}.get(says, 0.2)
        row = {
            "sample_id": f"{source}-{number}-{label}",
            "item_id": f"{source}:{number}",
            "source": source,
            "task": "freeform_qa",
            "instruction": f"Which dish number {number} is usual?",
            "output": "The answer: wrong" if label == "error" else "The answer: right",
            "label": label,
            "severity": "major" if label == "error" else None,
            "report": report_of(label),
            "country": "ID",
            "language": "en",
            "origin": "hard" if label == "error" else "none",
            "weight": 1.0,
            "group": f"{source}:{number}",
            "twin_id": None if label == "not_applicable" else f"{source}-{number}",
            "status": says,
            "score": -5.0 if says == "error" else None if says is None else 0.8,
            "p_error": p_error,
            "p_report": None if says in ("error", None) else 0.8,
            "guided": False,
            "truncated": False,
            "failure": "unparsable_report" if says is None else None,
            "p_cultural": 0.9,
            "passes_gate": True,
        }
        return row | changes

    return make


@pytest.fixture
def run() -> Run:
    return Run(
        judge="small + adapter@1",
        judge_version="0123456789abcdef",
        parameters=494_000_000,
        tuned=True,
        threshold=0.5,
        reports=False,
        split="test",
        dataset_sha256="ab" * 32,
    )


@pytest.fixture
def make_judged(make_row: MakeRow, run: Run) -> MakeJudged:
    """Twins of one source, the judge right on the errors and on the correct ones as two lists of truth values say."""

    def make(
        found: Sequence[bool],
        let_be: Sequence[bool],
        extra: Rows | None = None,
        sources: Sequence[str] = ("blend",),
        **facts: Any,
    ) -> Judged:
        rows: Rows = list(extra or [])
        for source in sources:
            for number, (first, second) in enumerate(zip(found, let_be, strict=True)):
                rows.append(make_row(number, "error", "error" if first else "correct", source=source))
                rows.append(make_row(number, "correct", "correct" if second else "error", source=source))
        changed = run.model_copy(update=facts)
        return Judged(judged_table(rows, changed), changed)

    return make
