"""Two judges are held against each other on the pairs that both have judged, and only else as strangers."""

from __future__ import annotations

from typing import Any

import pytest
from scipy import stats as reference

from excam.stats import paired_difference
from excam.store import Store
from excam.store.queries.compare import Comparison, Side, compare
from excam.store.queries.slice import Slice
from excam.store.queries.view import View
from tests.excam.store.outcomes import CARD, JUDGE, START, TUNED, error, put, verdict


def judged(store: Store, judge: Any, numbers: range, wrong: range, **changes: Any) -> None:
    """Verdicts of one judge on these pairs, with an error in some of them."""
    found = [verdict(n, logged_at=START, errors=[error()] if n in wrong else [], **changes) for n in numbers]
    put(store, *found, judge=judge)


def compared(store: Store, view: View | None = None) -> Comparison:
    return store.query(compare, view or View(), Side.JUDGE, JUDGE, TUNED.judge_version)


def test_the_same_pairs_are_tested_as_pairs(store: Store) -> None:
    judged(store, CARD, range(500), range(50))
    judged(store, TUNED, range(500), range(5, 65))
    found = compared(store)
    assert found.both == 500
    assert found.overall.change is not None
    assert found.overall.change.p_value == pytest.approx(reference.binomtest(5, 20).pvalue)
    assert found.overall.change.difference == pytest.approx(0.02)
    assert (found.overall.change.low, found.overall.change.high) == pytest.approx(paired_difference(45, 5, 15, 435)[1:])
    (country,) = found.countries
    assert (country.country, country.change) == ("ID", found.overall.change)


def test_what_only_one_of_them_judged_is_left_aside(store: Store) -> None:
    judged(store, CARD, range(400), range(200))
    judged(store, TUNED, range(100), range(10))
    found = compared(store, View(Slice(country="ID")))
    assert (found.both, found.overall.a.n, found.overall.b.n) == (100, 100, 100)
    assert (found.overall.a.errors, found.overall.b.errors) == (100, 10)


def test_judges_that_share_no_pair_are_compared_as_strangers(store: Store) -> None:
    judged(store, CARD, range(100), range(20))
    judged(store, TUNED, range(200, 300), range(200, 230))
    found = compared(store)
    assert (found.both, found.overall.a.n, found.overall.b.n) == (0, 100, 100)
    assert found.overall.change is not None
    expected = reference.chi2_contingency([[20, 80], [30, 70]], correction=False).pvalue
    assert found.overall.change.p_value == pytest.approx(expected)


def test_a_pair_weighs_as_much_as_those_it_was_sampled_from(store: Store) -> None:
    judged(store, CARD, range(40), range(2))
    judged(store, TUNED, range(40), range(0))
    judged(store, CARD, range(100, 110), range(0), sample_share=0.5)
    judged(store, TUNED, range(100, 110), range(100, 104), sample_share=0.1)
    found = compared(store)
    # 40 pairs of weight 1 and 10 of weight 10, the smaller share counting: 2 of 140 and 40 of 140
    assert (found.overall.a.rate, found.overall.b.rate) == pytest.approx((2 / 140, 40 / 140))
    assert found.overall.a.n_effective == pytest.approx(140**2 / 1040)
    # of those that differ 2 weigh 1 and 4 weigh 10: worth 42² / 402 = 4.4 pairs, all but 0.2 one way, so 4 to none
    assert found.overall.change is not None
    assert found.overall.change.p_value == pytest.approx(2 / 2**4)


def test_a_kind_of_error_is_looked_for_in_each_judges_own_report(store: Store) -> None:
    judged(store, CARD, range(30), range(10))
    put(store, *(verdict(n, logged_at=START, errors=[error(category="food")]) for n in range(30)), judge=TUNED)
    found = compared(store, View(category="food"))
    assert (found.overall.a.errors, found.overall.b.errors) == (0, 30)
