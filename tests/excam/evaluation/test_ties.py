from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.evaluation.ties import pairs_of, resampled_accuracy, right_pairs, tie_calibrated

SAMPLES = st.lists(st.tuples(st.sampled_from([0.0, -1.0, -5.0]), st.integers(-8, 8)), min_size=2, max_size=14)


def _accuracy(gold: list[float], score: list[float], epsilon: float) -> float:
    """Deutsch et al.'s definition, word for word: pairs ordered or tied alike by both."""
    right = 0
    pairs = list(combinations(range(len(gold)), 2))
    for i, j in pairs:
        said = 0 if abs(score[i] - score[j]) <= epsilon else math.copysign(1, score[i] - score[j])
        wanted = 0 if gold[i] == gold[j] else math.copysign(1, gold[i] - gold[j])
        right += said == wanted
    return right / len(pairs)


@given(SAMPLES)
@settings(max_examples=50)
def test_no_epsilon_is_better_than_the_one_found(rows: list[tuple[float, int]]) -> None:
    gold, score = [row[0] for row in rows], [row[1] / 4 for row in rows]
    found = tie_calibrated(gold, score)
    gaps = {abs(a - b) for a, b in combinations(score, 2)}
    assert found.accuracy == pytest.approx(max(_accuracy(gold, score, epsilon) for epsilon in {0.0, *gaps}))
    assert found.accuracy == pytest.approx(_accuracy(gold, score, found.epsilon))
    assert found.pairs == len(rows) * (len(rows) - 1) // 2
    first, second, right = right_pairs(gold, score, found.epsilon)
    assert right.mean() == pytest.approx(found.accuracy)
    assert (first != second).all()


def test_by_hand_a_tie_threshold_rescues_scores_that_never_tie() -> None:
    # gold ties the first three; the scores of these lie within 0.2, the fourth 5 below
    found = tie_calibrated([0, 0, 0, -5], [0.9, 0.8, 0.7, -5])
    assert found.accuracy == 1
    assert 0.19 < found.epsilon < 0.21


def test_more_pairs_than_allowed_are_sampled_and_come_near_the_whole() -> None:
    rng = np.random.default_rng(1)
    gold = rng.choice([0.0, -5.0], 600)
    score = gold + rng.normal(0, 4, 600)
    whole, drawn = tie_calibrated(gold, score), tie_calibrated(gold, score, most=60_000)
    assert drawn.pairs == 60_000
    assert drawn.accuracy == pytest.approx(whole.accuracy, abs=0.01)
    assert drawn == tie_calibrated(gold, score, most=60_000)


def test_a_sample_is_never_paired_with_itself() -> None:
    first, second = pairs_of(5000, 100_000)
    assert (first != second).all()
    assert min(first.min(), second.min()) >= 0
    assert max(first.max(), second.max()) < 5000


def test_one_sample_has_no_pairs() -> None:
    assert math.isnan(tie_calibrated([0], [1]).accuracy)


def test_a_weighted_resample_is_worth_what_its_samples_written_out_are() -> None:
    rng = np.random.default_rng(2)
    gold, score = rng.choice([0.0, -5.0], 40), rng.choice([-5.0, 0.2, 0.4, 0.9], 40)
    weight = np.bincount(rng.integers(0, 40, 40), minlength=40).astype(np.float64)
    written_out = np.repeat(np.arange(40), weight.astype(int))
    first, second, right = right_pairs(gold, score, 0.3)
    expected = right_pairs(gold[written_out], score[written_out], 0.3)[2].mean()
    assert resampled_accuracy(right, first, second, weight) == pytest.approx(expected)
