"""From what an engine answers to the verdict columns of a judged table."""

from __future__ import annotations

from typing import Any

from excam.evaluation.baselines import Baseline, status_of
from excam.judgement import JudgeFailure, Judgement
from excam.report import Severity, Status
from excam.score import WEIGHTS

UNREADABLE = "unreadable_answer"


def written_report(found: Judgement | JudgeFailure) -> dict[str, Any]:
    """The judge as it is served: the report decides the status and the score, and one that cannot be read is none."""
    if isinstance(found, JudgeFailure):
        return {"failure": found.reason, "detail": _text(found.detail)}
    return {
        "status": found.status.value,
        "score": found.score,
        "p_error": found.p_error,
        "p_report": found.p_report,
        "written": _text(found.report),
        "guided": found.guided,
        "truncated": found.truncated,
    }


def decision_only(found: Judgement | JudgeFailure, threshold: float) -> dict[str, Any]:
    """The decision of a judge that was asked for no report: an error counts as a major one, which hard errors are."""
    if isinstance(found, JudgeFailure):
        return written_report(found)
    marks = {"p_error": found.p_error, "guided": found.guided, "truncated": found.truncated}
    if found.p_error >= threshold:
        return {"status": Status.ERROR.value, "score": WEIGHTS[Severity.MAJOR], **marks}
    return {"status": found.status.value, "score": found.score, "p_report": found.p_report, **marks}


def baseline_answer(baseline: Baseline, text: str, p_answer: float, *, truncated: bool) -> dict[str, Any]:
    """An untuned model's answer: the score it names, or a failure with what it said."""
    score = baseline.read(text)
    kept = {"p_report": p_answer, "written": _text(text), "truncated": truncated}
    if score is None:
        return {"failure": UNREADABLE, "detail": f"the answer does not end as the {baseline.name} prompt asks", **kept}
    return {"status": status_of(score).value, "score": score, **kept}


def _text(text: str) -> str:
    """Text that Parquet can hold: what is no valid Unicode becomes question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")
