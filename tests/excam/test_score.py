"""Equation 1 of the paper, and P(error)."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.report import CORRECT_REPORT, NOT_APPLICABLE_REPORT, CulturalError, ErrorReport, Location, Severity, Status
from excam.score import decision_probabilities, p_error, score, sequence_probability


def report(*severities: Severity) -> ErrorReport:
    return ErrorReport(
        errors=tuple(
            CulturalError(severity=each, type="t", location=Location.OUTPUT, span="s", explanation="e")
            for each in severities
        )
    )


@pytest.mark.parametrize(
    ("severities", "expected"),
    [
        ((Severity.MINOR,), -1.0),
        ((Severity.MAJOR,), -5.0),
        ((Severity.MINOR, Severity.MAJOR, Severity.MINOR), -7.0),
    ],
)
def test_errors_sum_to_their_weights(severities: tuple[Severity, ...], expected: float) -> None:
    assert score(report(*severities), p_report=0.9) == expected


def test_without_errors_the_score_is_the_probability_of_the_report() -> None:
    assert score(CORRECT_REPORT, p_report=0.83) == 0.83


def test_what_is_not_applicable_has_no_score() -> None:
    assert score(NOT_APPLICABLE_REPORT, p_report=0.9) is None


def test_the_sequence_probability_is_normalised_by_length() -> None:
    assert sequence_probability(math.log(0.5) * 4, 4) == pytest.approx(0.5)


@given(st.floats(max_value=1e-6, allow_nan=False), st.integers(1, 500))
def test_the_sequence_probability_stays_above_nought_and_at_most_one(logprob: float, tokens: int) -> None:
    assert 0 < sequence_probability(logprob, tokens) <= 1


def test_p_error_is_the_error_token_against_all_it_could_have_been() -> None:
    logprobs = {Status.ERROR: math.log(0.2), Status.CORRECT: math.log(0.1), Status.NOT_APPLICABLE: math.log(0.1)}
    assert p_error(logprobs) == pytest.approx(0.5)


@given(st.lists(st.floats(-1000, 0), min_size=3, max_size=3))
def test_decision_probabilities_sum_to_one(values: list[float]) -> None:
    shares = decision_probabilities(dict(zip(Status, values, strict=True)))
    assert sum(shares.values()) == pytest.approx(1)


def test_a_decision_without_any_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="finite"):
        p_error(dict.fromkeys(Status, -math.inf))
