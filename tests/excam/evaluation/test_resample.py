from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import bootstrap

from excam.evaluation.resample import group_sums, interval, resampled_sums, resampled_weights


def test_the_interval_is_scipys_percentile_bootstrap_where_every_sample_is_an_item() -> None:
    rng = np.random.default_rng(3)
    hit = (rng.random(300) < 0.3).astype(float)
    sums = group_sums(np.stack([hit, np.ones(300)], axis=-1), [str(number) for number in range(300)])
    totals = resampled_sums(sums, 4000)
    low, high = interval(totals[:, 0] / totals[:, 1])
    expected = bootstrap((hit,), np.mean, n_resamples=4000, method="percentile", rng=rng).confidence_interval
    assert low == pytest.approx(expected.low, abs=0.012)
    assert high == pytest.approx(expected.high, abs=0.012)


def test_copies_of_an_item_make_the_interval_no_narrower() -> None:
    rng = np.random.default_rng(4)
    hit = (rng.random(200) < 0.4).astype(float)
    groups = np.arange(200).astype(str)
    once = resampled_sums(group_sums(np.stack([hit, np.ones(200)], -1), groups))
    copies = np.repeat(np.stack([hit, np.ones(200)], -1), 5, axis=0)
    five = resampled_sums(group_sums(copies, np.repeat(groups, 5)))
    assert interval(once[:, 0] / once[:, 1]) == pytest.approx(interval(five[:, 0] / five[:, 1]))


def test_groups_are_drawn_whole_and_each_stratum_keeps_its_number_of_groups() -> None:
    groups = ["a", "a", "b", "c", "d", "d"]
    strata = ["x", "x", "x", "y", "y", "y"]
    for weight in resampled_weights(groups, strata, 50):
        assert weight[0] == weight[1]
        assert weight[4] == weight[5]
        assert weight[0] + weight[2] == 2
        assert weight[3] + weight[4] == 2


def test_many_groups_are_drawn_in_portions_with_the_same_result_each_time() -> None:
    sums = np.ones((5000, 1))
    drawn = resampled_sums(sums, 1000, seed=7)
    assert drawn.shape == (1000, 1)
    assert (drawn == 5000).all()


def test_draws_that_leave_a_figure_undefined_are_passed_over() -> None:
    assert interval([1.0, np.nan, 1.0]) == (1.0, 1.0)
    assert all(np.isnan(interval([np.nan])))
