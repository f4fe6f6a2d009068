"""Intervals and tests against scipy's answers and against numbers worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats as reference

from excam.stats import (
    bootstrap_difference,
    effective_size,
    holm,
    paired_difference,
    paired_permutation_test,
    paired_rates_test,
    rate_difference_test,
    weighted_wilson,
    wilson,
)


def counts(highest: int = 400) -> st.SearchStrategy[tuple[int, int]]:
    return st.integers(1, highest).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))


@given(counts(), st.sampled_from([0.8, 0.9, 0.95, 0.99]))
@settings(deadline=None)
def test_wilson_is_scipys_wilson(count: tuple[int, int], confidence: float) -> None:
    errors, n = count
    expected = reference.binomtest(errors, n).proportion_ci(confidence, method="wilson")
    assert wilson(errors, n, confidence) == pytest.approx((expected.low, expected.high), abs=1e-12)


def test_wilson_by_hand() -> None:
    # p = 0.1, n = 100, z = 1.96: (0.1 + 0.0192 ± 1.96 * sqrt(0.0009 + 0.000096)) / 1.0384
    assert wilson(10, 100) == pytest.approx((0.0552, 0.1744), abs=1e-4)


def test_no_pairs_tell_nothing_and_no_errors_leave_room_for_some() -> None:
    assert wilson(0, 0) == (0.0, 1.0)
    low, high = wilson(0, 50)
    assert low == 0.0
    assert 0.05 < high < 0.1


@pytest.mark.parametrize(("errors", "n"), [(-1, 5), (6, 5), (math.nan, 5)])
def test_impossible_counts_are_refused(errors: float, n: float) -> None:
    with pytest.raises(ValueError, match="between 0 and n"):
        wilson(errors, n)
    with pytest.raises(ValueError, match="between 0 and n"):
        rate_difference_test(errors, n, 1, 5)


@given(counts(), st.floats(1, 1000))
@settings(deadline=None)
def test_equal_weights_give_the_interval_of_the_pairs_judged(count: tuple[int, int], weight: float) -> None:
    errors, n = count
    weighted = weighted_wilson(errors * weight, n * weight, n * weight**2)
    assert weighted == pytest.approx(wilson(errors, n), abs=1e-6)


def test_unequal_weights_widen_the_interval() -> None:
    # 100 pairs kept whole and 100 kept at one in ten: (100 + 1000)² / (100 + 10000) = 119.8 pairs' worth
    assert effective_size(1100, 10_100) == pytest.approx(119.8, abs=0.01)
    low, high = weighted_wilson(110, 1100, 10_100)
    assert (low, high) == pytest.approx(wilson(11.98, 119.8), abs=1e-4)
    assert high - low > wilson(20, 200)[1] - wilson(20, 200)[0]
    assert weighted_wilson(0, 0, 0) == (0.0, 1.0)


@given(counts(40), counts(40))
@settings(deadline=None)
def test_small_counts_get_fishers_exact_test(first: tuple[int, int], second: tuple[int, int]) -> None:
    (e1, n1), (e2, n2) = first, second
    total, errors = n1 + n2, e1 + e2
    if min(n1, n2) * min(errors, total - errors) / total < 10:
        expected = reference.fisher_exact([[e1, n1 - e1], [e2, n2 - e2]]).pvalue
        assert rate_difference_test(e1, n1, e2, n2) == pytest.approx(expected, abs=1e-9)


@given(st.integers(20, 180), st.integers(20, 180))
@settings(deadline=None)
def test_large_counts_get_the_pooled_test_which_is_chi_square(e1: int, e2: int) -> None:
    expected = reference.chi2_contingency([[e1, 200 - e1], [e2, 200 - e2]], correction=False).pvalue
    assert rate_difference_test(e1, 200, e2, 200) == pytest.approx(expected, abs=1e-9)


def test_the_same_rates_or_no_data_are_no_difference() -> None:
    assert rate_difference_test(0, 50, 0, 70) == 1.0
    assert rate_difference_test(5, 5, 7, 7) == 1.0
    assert rate_difference_test(0, 0, 3, 7) == 1.0
    assert rate_difference_test(3, 10, 3, 10) == pytest.approx(1.0)


def test_effective_sizes_may_be_fractions() -> None:
    assert 0 < rate_difference_test(1.4, 9.7, 6.2, 11.1) < 0.2
    assert rate_difference_test(30.5, 300.2, 90.1, 310.8) < 0.001


@given(st.integers(0, 500), st.integers(0, 500))
@settings(deadline=None)
def test_rates_of_the_same_items_get_the_exact_test_of_mcnemar(only_a: int, only_b: int) -> None:
    expected = reference.binomtest(only_a, only_a + only_b).pvalue if only_a + only_b else 1.0
    assert paired_rates_test(only_a, only_b) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("only_a", "only_b"), [(470, 531), (5000, 5100), (10_000, 10_400)])
def test_many_items_that_differ_get_nearly_the_same_for_less(only_a: int, only_b: int) -> None:
    expected = reference.binomtest(only_a, only_a + only_b).pvalue
    assert paired_rates_test(only_a, only_b) == pytest.approx(expected, rel=0.01)


def test_the_interval_of_a_paired_difference_is_newcombes() -> None:
    # 36 items with both, 12 with one, 2 with the other, none with neither
    assert paired_difference(36, 2, 12, 0) == pytest.approx((0.2, 0.0569, 0.3404), abs=1e-4)
    assert paired_difference(36, 12, 2, 0) == pytest.approx((-0.2, -0.3404, -0.0569), abs=1e-4)
    _, low, high = paired_difference(10, 0, 0, 90)
    assert low < 0 < high


def test_permutation_of_few_pairs_is_exact() -> None:
    # differences 1, 2, 3: only the observed signs and all of them flipped reach |sum| = 6, two of eight
    assert paired_permutation_test([1, 2, 3], [0, 0, 0]) == 2 / 8


def test_permutation_of_many_pairs_agrees_with_scipys() -> None:
    rng = np.random.default_rng(5)
    a = rng.normal(0.25, 1, 60)
    b = rng.normal(0, 1, 60)
    expected = reference.permutation_test(
        (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=20_000, rng=1
    ).pvalue
    assert paired_permutation_test(a, b, n=20_000) == pytest.approx(expected, abs=0.015)


def test_permutation_is_reproducible_symmetric_and_never_zero() -> None:
    a, b = np.arange(50.0), np.arange(50.0) - 5
    assert paired_permutation_test(a, b) == paired_permutation_test(b, a) == 1 / 1001
    assert paired_permutation_test(a, a) == 1.0


def test_bootstrap_covers_the_difference_about_as_often_as_it_says() -> None:
    rng = np.random.default_rng(0)
    covered = 0
    for trial in range(200):
        a, b = rng.normal(1, 1, 40), rng.normal(0, 2, 60)
        _, low, high = bootstrap_difference(a, b, n=500, seed=trial, confidence=0.9)
        covered += low <= 1 <= high
    assert 165 <= covered <= 195


def test_bootstrap_is_reproducible_and_pairing_narrows_it() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(0, 5, 200)
    b = a - 0.1 + rng.normal(0, 0.1, 200)
    assert bootstrap_difference(a, b) == bootstrap_difference(a, b)
    difference, low, high = bootstrap_difference(a, b, paired=True)
    assert difference == pytest.approx(a.mean() - b.mean())
    assert 0 < low < difference < high < 0.2
    assert high - low < 0.1 * (bootstrap_difference(a, b)[2] - bootstrap_difference(a, b)[1])


def test_large_samples_do_not_need_large_memory() -> None:
    ones = np.ones(1_500_000)  # so that three draws need two chunks
    assert bootstrap_difference(ones, ones, n=3) == (0.0, 0.0, 0.0)
    assert paired_permutation_test(ones, ones * 0, n=3) == 0.25


@pytest.mark.parametrize("bad", [[], [1.0, math.nan], [math.inf]])
def test_samples_must_hold_finite_values(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="finite"):
        bootstrap_difference(bad, [1.0])
    with pytest.raises(ValueError, match="finite"):
        paired_permutation_test([1.0], bad)


def test_pairs_must_pair() -> None:
    with pytest.raises(ValueError, match="one length"):
        paired_permutation_test([1, 2], [1])
    with pytest.raises(ValueError, match="one length"):
        bootstrap_difference([1, 2], [1], paired=True)


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), max_size=20))
@settings(deadline=None)
def test_holm_keeps_the_order_never_lowers_and_stays_below_one(p_values: list[float]) -> None:
    adjusted = holm(p_values)
    assert all(raw <= new <= 1 for raw, new in zip(p_values, adjusted, strict=True))
    assert all(adjusted[i] <= adjusted[j] for i, a in enumerate(p_values) for j, b in enumerate(p_values) if a < b)
