"""Calibration: checked against scikit-learn, and on judges whose faults are known because they were made."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from pydantic import ValidationError
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from excam.calibrate import calibrate, rates
from excam.calibration import (
    Calibration,
    fit_isotonic,
    fit_temperature,
    pool_adjacent_violators,
    threshold_for_accuracy,
    threshold_for_budget,
    with_temperature,
)
from excam.fault import UserError

Floats = NDArray[np.float64]
FACTS = {"threshold": 0.5, "pairs": 10, "ece_before": 0.2, "ece_after": 0.1}


def judge(pairs: int = 4000, temperature: float = 0.4, shift: float = 1.0, seed: int = 0) -> tuple[Floats, list[str]]:
    """A judge too sure of itself by a known temperature and too fond of errors by a known shift."""
    random = np.random.default_rng(seed)
    odds = random.normal(0, 1.5, pairs)
    labels = np.where(random.random(pairs) < 1 / (1 + np.exp(-odds)), "error", "correct")
    ordinary = random.random(pairs) < 0.2
    odds = np.where(ordinary, random.normal(-4, 1, pairs), odds)
    return 1 / (1 + np.exp(-(odds + shift) / temperature)), np.where(ordinary, "not_applicable", labels).tolist()


@given(
    st.lists(st.tuples(st.floats(0, 1), st.integers(1, 9)), min_size=1, max_size=40),
)
@settings(max_examples=50)
def test_pooling_gives_the_rising_sequence_scikit_learn_gives(drawn: list[tuple[float, int]]) -> None:
    values, weights = zip(*drawn, strict=True)
    fitted, starts = pool_adjacent_violators(values, weights)
    expected = IsotonicRegression().fit_transform(np.arange(len(values)), values, sample_weight=weights)
    np.testing.assert_allclose(fitted, expected, atol=1e-9)
    assert starts[0] == 0
    assert (np.diff(fitted) >= 0).all()


def test_the_temperature_is_that_of_a_logistic_regression_without_intercept() -> None:
    raw, labels = judge(shift=0.0)
    cultural = np.array(labels) != "not_applicable"
    error = np.array(labels)[cultural] == "error"
    odds = np.log(raw[cultural] / (1 - raw[cultural])).clip(-20, 20)
    slope = LogisticRegression(C=np.inf, fit_intercept=False, tol=1e-10).fit(odds[:, None], error).coef_[0, 0]
    found = fit_temperature(raw[cultural], error)
    assert found == pytest.approx(1 / slope, rel=1e-3)
    assert found == pytest.approx(1 / 0.4, rel=0.1), "the judge was made too sure by this much"


def test_a_temperature_of_one_changes_nothing() -> None:
    p = np.linspace(0.001, 0.999, 50)
    np.testing.assert_allclose(with_temperature(p, 1.0), p)


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=60))
@settings(max_examples=50)
def test_isotonic_knots_always_make_a_map_that_keeps_order_and_stays_a_probability(
    drawn: list[tuple[float, bool]],
) -> None:
    raw, error = zip(*drawn, strict=True)
    made = Calibration.model_validate({"method": "isotonic", "knots": fit_isotonic(raw, error), **FACTS})
    mapped = made.apply(np.linspace(0, 1, 101))
    assert (np.diff(mapped) >= 0).all()
    assert mapped.min() >= 0
    assert mapped.max() <= 1


@pytest.mark.parametrize("method", ["temperature", "isotonic"])
def test_calibration_lowers_the_error_on_pairs_it_did_not_see(method: str) -> None:
    raw, labels = judge(shift=0.0 if method == "temperature" else 1.0)
    made = calibrate(raw, labels, method="temperature" if method == "temperature" else "isotonic")
    assert made.ece_before > 0.1
    assert made.ece_after < 0.03
    assert made.pairs == sum(label != "not_applicable" for label in labels)


def test_a_false_alarm_budget_is_kept_where_the_surest_pairs_are_all_errors() -> None:
    draw = np.random.default_rng(0)
    error, ordinary = draw.uniform(0.3, 1, 1000), draw.uniform(0, 0.95, 1000)
    raw = np.concatenate([error, ordinary])
    made = Calibration.model_validate(
        {"method": "isotonic", "knots": fit_isotonic(raw, np.arange(2000) < 1000), **FACTS}
    )
    mapped = made.apply(np.sort(raw))
    assert (np.diff(mapped) > 0).all(), "none of them tie, so that a threshold can part any two"
    for budget in (0.1, 0.02, 0.001):
        threshold = threshold_for_budget(made.apply(ordinary), [], budget)
        assert (made.apply(ordinary) >= threshold).mean() <= budget


def test_many_pairs_are_calibrated_by_isotonic_regression_and_few_by_a_temperature() -> None:
    assert calibrate(*judge(4000)).method == "isotonic"
    assert calibrate(*judge(400)).method == "temperature"


@pytest.mark.parametrize("budget", [0.0, 0.02, 0.1])
def test_a_false_alarm_budget_is_kept_among_correct_and_among_ordinary_pairs(budget: float) -> None:
    raw, labels = judge()
    found = rates(calibrate(raw, labels, max_false_alarms=budget), raw, labels)
    assert found["false_alarms"] <= budget
    assert found["false_alarms_ordinary"] <= budget
    assert found["false_alarms"] >= budget - 0.002, "a threshold higher than it must be misses errors for nothing"


@pytest.mark.parametrize("method", ["temperature", "isotonic"])
def test_a_budget_that_no_threshold_keeps_is_refused(method: str) -> None:
    raw = [*np.linspace(0.01, 0.4, 50), *np.linspace(0.6, 0.99, 50), *[1.0] * 10]
    labels = ["correct"] * 50 + ["error"] * 50 + ["not_applicable"] * 10
    with pytest.raises(UserError, match="no threshold keeps"):
        calibrate(raw, labels, method=method, max_false_alarms=0.02)


def three_ways(seed: int = 0) -> tuple[np.ndarray, np.ndarray, list[str]]:
    """P(error), P(not applicable) and labels of a judge that is often not sure whether a pair is about culture."""
    draw = np.random.default_rng(seed)
    label = np.arange(3000) % 3  # correct, error, ordinary
    logits = draw.normal(0, 1.2, (3000, 3))
    logits[np.arange(3000), label] += 2
    logits[label != 2, 2] -= 4
    odds = np.exp(logits)
    p = odds / odds.sum(1, keepdims=True)
    return p[:, 1], p[:, 2], [("correct", "error", "not_applicable")[number] for number in label]


def test_counting_not_applicable_more_often_keeps_ordinary_pairs_from_being_errors_and_finds_as_many() -> None:
    raw, ordinary, labels = three_ways()
    plain = calibrate(raw, labels)
    made = calibrate(raw, labels, ordinary=ordinary, max_ordinary_alarms=0.01)
    before, after = rates(plain, raw, labels), rates(made, raw, labels, ordinary)
    assert made.ordinary_weight > 1
    assert before["false_alarms_ordinary"] > 0.05
    assert after["false_alarms_ordinary"] <= 0.01
    found, alarmed = (abs(after[name] - before[name]) for name in ("errors_found", "false_alarms"))
    assert max(found, alarmed) < 0.05


def test_not_applicable_counts_no_more_than_the_budget_needs() -> None:
    raw, ordinary, labels = three_ways()
    weights = [
        calibrate(raw, labels, ordinary=ordinary, max_ordinary_alarms=budget).ordinary_weight
        for budget in (1.0, 0.05, 0.01)
    ]
    assert weights == sorted(weights)
    assert weights[0] == 1


def test_doubt_is_the_softmax_with_the_weight_beside_the_odds() -> None:
    made = Calibration.model_validate({"method": "temperature", "temperature": 1.0, "ordinary_weight": 20.0, **FACTS})
    error, ordinary, correct = 0.6, 0.3, 0.1
    assert made(error, ordinary) == pytest.approx(error / (error + correct + 20 * ordinary))
    assert made.sha256 != made.model_copy(update={"ordinary_weight": 10.0}).sha256


def test_an_ordinary_budget_that_no_weight_keeps_or_that_cannot_be_looked_at_is_refused() -> None:
    raw, _, labels = three_ways()
    with pytest.raises(UserError, match="ordinary pairs are flagged"):
        calibrate(raw, labels, ordinary=np.zeros(len(raw)), max_ordinary_alarms=0.01)
    with pytest.raises(UserError, match=r"tells no P\(not applicable\)"):
        calibrate(raw, labels, max_ordinary_alarms=0.01)


def test_a_budget_is_met_exactly_on_a_small_example() -> None:
    assert threshold_for_budget([0.1, 0.2, 0.3, 0.9], [], 0.25) == pytest.approx(0.3, abs=1e-9)
    assert threshold_for_budget([0.1, 0.2], [0.6], 0.0) > 0.6
    assert threshold_for_budget([0.1, 0.2], [0.6], 1.0) == 0.0


def test_without_a_budget_the_threshold_has_the_best_balanced_accuracy() -> None:
    raw, labels = judge()
    made = calibrate(raw, labels)
    label = np.array(labels)
    cultural = label != "not_applicable"
    mapped, error = made.apply(raw)[cultural], label[cultural] == "error"

    def balanced(threshold: float) -> float:
        return float((mapped[error] >= threshold).mean() - (mapped[~error] >= threshold).mean())

    assert balanced(made.threshold) == pytest.approx(max(balanced(value) for value in np.unique(mapped)))


def test_the_best_threshold_lies_between_the_pairs_it_parts() -> None:
    assert threshold_for_accuracy([0.1, 0.2, 0.8, 0.9], [False, False, True, True]) == pytest.approx(0.5)


def test_the_version_of_a_calibration_is_what_decides_verdicts() -> None:
    one = Calibration.model_validate({"method": "temperature", "temperature": 2.0, **FACTS})
    assert one.sha256 == one.model_copy(update={"pairs": 99}).sha256
    assert one.sha256 != one.model_copy(update={"threshold": 0.6}).sha256
    assert one.sha256 != one.model_copy(update={"temperature": 2.1}).sha256


@pytest.mark.parametrize(
    "wrong",
    [
        {"method": "temperature"},
        {"method": "isotonic"},
        {"method": "isotonic", "knots": [[0, 0.5], [1, 0.2]]},
        {"method": "isotonic", "knots": [[0.5, 0.1], [0.5, 0.2]]},
        {"method": "isotonic", "knots": [[0, -5], [1, 7]]},
        {"method": "isotonic", "knots": [[0, float("nan")], [1, float("nan")]]},
        {"method": "temperature", "temperature": -1},
        {"method": "temperature", "temperature": float("inf")},
        {"method": "temperature", "temperature": 1, "knots": [[0, 0.2], [1, 0.3]]},
    ],
)
def test_a_calibration_that_is_no_map_is_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        Calibration.model_validate(FACTS | wrong)


def test_wordings_of_one_item_or_what_is_no_probability_cannot_calibrate() -> None:
    raw, labels = np.linspace(0, 1, 20), ["correct", "error"] * 10
    with pytest.raises(UserError, match="cannot calibrate"):
        calibrate(raw, labels, groups=["item"] * 20, method="isotonic")
    raw[3] = np.nan
    with pytest.raises(UserError, match="outside 0 to 1"):
        calibrate(raw, labels)


def test_pairs_of_one_class_cannot_calibrate() -> None:
    with pytest.raises(UserError, match="cannot calibrate"):
        calibrate([0.5] * 100, ["correct"] * 100)
