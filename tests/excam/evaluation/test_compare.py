from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.stats import permutation_test

from excam.evaluation.accuracy import kendall
from excam.evaluation.compare import aligned, compare, swapped
from excam.evaluation.figures import HEADLINE
from excam.fault import UserError


def test_a_judge_is_not_different_from_itself(make_judged: Any) -> None:
    judged = make_judged([True] * 10 + [False] * 5, [True] * 15)
    for one in compare(judged, judged, 100):
        assert one.difference == 0
        assert one.p_value == 1


def test_a_much_better_judge_is_found_to_be_better(make_judged: Any) -> None:
    better, worse = make_judged([True] * 60, [True] * 60), make_judged([True] * 20 + [False] * 40, [True] * 60)
    found = {(one.measure, one.slice): one for one in compare(better, worse)}
    gap = found["scaled_accuracy", HEADLINE]
    assert gap.difference == pytest.approx(2 / 3)
    assert gap.p_value < 0.01
    assert gap.low < gap.difference < gap.high
    assert gap.low > 0
    assert found["kendall", "all"].p_value < 0.01
    assert found["scaled_accuracy", "blend"].n == 120


def test_the_p_value_of_the_headline_is_scipys_over_whole_items(make_judged: Any) -> None:
    rng = np.random.default_rng(5)
    wins = [(rng.random(40) < chance).tolist() for chance in (0.75, 0.6, 0.8, 0.7)]
    a, b = make_judged(wins[0], wins[2]), make_judged(wins[1], wins[3])
    ours = next(one for one in compare(a, b, 2000) if one.slice == HEADLINE)
    first = np.array(wins[0], float) + np.array(wins[2], float)
    second = np.array(wins[1], float) + np.array(wins[3], float)
    expected = permutation_test(
        (first, second), lambda x, y: np.mean(x) - np.mean(y), permutation_type="samples", n_resamples=2000, rng=rng
    )
    assert ours.difference == pytest.approx((first - second).mean())
    assert ours.p_value == pytest.approx(expected.pvalue, abs=0.04)


def test_swapping_agrees_with_scipy_for_a_correlation() -> None:
    rng = np.random.default_rng(6)
    gold = rng.choice([0.0, -5.0], 60)
    a, b = gold + rng.normal(0, 4, 60), gold + rng.normal(0, 8, 60)

    def gap(x: Any, y: Any) -> float:
        return kendall(gold, x) - kendall(gold, y)

    ours = swapped(gap, a, b, np.arange(60).astype(str), 800)
    theirs = permutation_test(
        (a, b), gap, permutation_type="samples", n_resamples=800, vectorized=False, rng=rng
    ).pvalue
    assert ours == pytest.approx(theirs, abs=0.06)


def test_judges_that_differ_on_one_item_cannot_be_told_apart(make_judged: Any) -> None:
    a, b = make_judged([True] * 6, [True] * 6), make_judged([True] * 6, [False] + [True] * 5)
    found = {one.measure: one for one in compare(a, b, 200)}
    assert found["kendall"].difference > 0
    assert found["kendall"].p_value == found["scaled_accuracy"].p_value == 1, "to swap that item gives the same gap"


def test_a_source_of_errors_alone_has_no_part_in_the_mean_nor_in_its_p_value(make_judged: Any, make_row: Any) -> None:
    alone = [[make_row(n, "error", says, source="epic") for n in range(30)] for says in ("error", "correct")]
    a, b = make_judged([True] * 6, [True] * 6, alone[0]), make_judged([True] * 6, [False] + [True] * 5, alone[1])
    found = {one.slice: one for one in compare(a, b, 200)}
    assert set(found) == {HEADLINE, "blend", "all"}
    assert (found[HEADLINE].n, found[HEADLINE].p_value) == (12, 1)


def test_a_swap_that_leaves_a_score_without_order_is_no_proof() -> None:
    gold, a, b = np.array([-5.0, 0.0]), np.array([-5.0, 0.5]), np.array([0.5, -5.0])
    assert swapped(lambda x, y: kendall(gold, x) - kendall(gold, y), a, b, np.array(["1", "2"]), 200) == 1


def test_only_samples_both_judged_are_compared_in_one_order(make_judged: Any) -> None:
    a, b = make_judged([True] * 6, [True] * 6), make_judged([True] * 4, [False] * 4)
    backwards = b.table.take(list(range(len(b)))[::-1])
    first, second = aligned(a, type(b)(backwards, b.run))
    assert first.table["sample_id"].to_pylist() == second.table["sample_id"].to_pylist()
    assert len(first) == 8


def test_files_with_nothing_in_common_or_with_other_labels_are_refused(make_judged: Any, make_row: Any) -> None:
    a, b = make_judged([True], [True]), make_judged([True], [True], sources=("epic",))
    with pytest.raises(UserError, match="no sample in common"):
        compare(a, b)
    other = make_judged([], [], [make_row(0, "error", "error") | {"label": "correct"}])
    with pytest.raises(UserError, match="different labels"):
        compare(a, other)
