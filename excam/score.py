"""Numbers from a report: the paper's score (equation 1) and the probability that there is an error at all."""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping

from excam.report import ErrorReport, Severity, Status

WEIGHTS: Mapping[Severity, float] = {Severity.MINOR: -1.0, Severity.MAJOR: -5.0}


def sequence_probability(cumulative_logprob: float, tokens: int) -> float:
    """p(R): the probability of the report's whole token sequence, normalised by its length; in (0, 1]."""
    if tokens < 1:
        raise ValueError("a report has at least one token")
    return min(1.0, max(sys.float_info.min, math.exp(min(0.0, cumulative_logprob / tokens))))


def score(report: ErrorReport, p_report: float) -> float | None:
    """Equation 1: the errors' weights summed and, where there is none, p(R); nothing for what is not applicable."""
    if report.errors is None:
        return None
    return sum(WEIGHTS[error.severity] for error in report.errors) if report.errors else p_report


def decision_probabilities(logprobs: Mapping[Status, float]) -> dict[Status, float]:
    """What the judge's decision token says of each outcome, normalised over the outcomes it can take."""
    highest = max(logprobs.values())
    if not math.isfinite(highest):
        raise ValueError("the decision token has no finite log-probability")
    mass = {status: math.exp(value - highest) for status, value in logprobs.items()}
    total = sum(mass.values())
    return {status: value / total for status, value in mass.items()}


def p_error(logprobs: Mapping[Status, float]) -> float:
    """P(error) from the decision token's log-probabilities: what thresholds, calibration and triage work on."""
    return decision_probabilities(logprobs)[Status.ERROR]
