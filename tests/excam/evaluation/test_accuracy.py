from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau
from sklearn.metrics import balanced_accuracy_score

from excam.evaluation.accuracy import class_counts, kendall, scaled_accuracy

DECISIONS = st.lists(st.tuples(st.booleans(), st.booleans()), min_size=1, max_size=60)
LEVELS = st.lists(
    st.tuples(st.sampled_from([0.0, -1.0, -5.0, -6.0]), st.floats(-6, 1), st.integers(0, 3)), min_size=2, max_size=40
)


@given(DECISIONS)
@settings(max_examples=50)
def test_scaled_accuracy_is_twice_the_balanced_accuracy_less_one(decisions: list[tuple[bool, bool]]) -> None:
    truth, said = (np.array(column) for column in zip(*decisions, strict=True))
    found = float(scaled_accuracy(class_counts(truth, truth == said).sum(0)))
    if truth.any() and not truth.all():
        assert found == pytest.approx(2 * balanced_accuracy_score(truth, said) - 1)
    else:
        assert math.isnan(found)


def test_a_judge_that_always_says_error_is_worth_nothing_however_many_errors_there_are() -> None:
    truth = np.array([True] * 9 + [False])
    assert scaled_accuracy(class_counts(truth, truth).sum(0)) == 0


def test_by_hand_three_of_four_errors_found_and_one_of_two_let_be() -> None:
    truth = [True] * 4 + [False] * 2
    right = [True, True, True, False, True, False]
    assert scaled_accuracy(class_counts(truth, right).sum(0)) == pytest.approx(0.75 + 0.5 - 1)


@given(LEVELS)
@settings(max_examples=50)
def test_kendall_is_scipys_tau_b_with_any_ties(rows: list[tuple[float, float, int]]) -> None:
    gold, score, _ = zip(*rows, strict=True)
    expected = float(kendalltau(gold, score, variant="b").statistic)
    assert kendall(gold, score) == pytest.approx(expected, nan_ok=True, abs=1e-9)


@given(LEVELS)
@settings(max_examples=50)
def test_a_weight_counts_a_sample_that_many_times(rows: list[tuple[float, float, int]]) -> None:
    gold, score, times = (np.array(column) for column in zip(*rows, strict=True))
    repeated = kendall(np.repeat(gold, times), np.repeat(score, times))
    assert kendall(gold, score, times) == pytest.approx(repeated, nan_ok=True, abs=1e-9)


def test_kendall_by_hand() -> None:
    # of the pairs (0,-5) (0,-5) (0,0): both untied in gold are in order; the scores tie nowhere: 2 / sqrt(2 * 3)
    assert kendall([0, 0, -5], [0.9, 0.8, -5]) == pytest.approx(2 / math.sqrt(6))
