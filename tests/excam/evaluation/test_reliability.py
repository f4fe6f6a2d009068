from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve

from excam.evaluation.reliability import expected_calibration_error, reliability

CLAIMS = st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=1, max_size=50)


def test_ece_by_hand() -> None:
    # [0.1, 0.2): two claims of 0.15, none happened: gap 0.15; [0.8, 0.9): two of 0.85, one happened: gap 0.35
    table = reliability([0.15, 0.15, 0.85, 0.85], [0, 0, 1, 0])
    assert [one.n for one in table] == [2, 2]
    assert expected_calibration_error(table) == pytest.approx(0.5 * 0.15 + 0.5 * 0.35)


def test_the_table_is_scikit_learns_calibration_curve() -> None:
    rng = np.random.default_rng(2)
    claimed = rng.random(500)
    happened = rng.random(500) < claimed**2
    table = reliability(claimed, happened)
    share, mean = calibration_curve(happened, claimed, n_bins=10, strategy="uniform")
    assert [one.happened for one in table] == pytest.approx(share.tolist())
    assert [one.claimed for one in table] == pytest.approx(mean.tolist())


@given(CLAIMS)
@settings(max_examples=50)
def test_every_claim_falls_into_one_bin_and_the_error_lies_between_0_and_1(rows: list[tuple[float, bool]]) -> None:
    claimed, happened = zip(*rows, strict=True)
    table = reliability(claimed, happened)
    assert sum(one.n for one in table) == len(rows)
    assert 0 <= expected_calibration_error(table) <= 1
    assert all(one.low <= one.claimed <= one.high + 1e-9 for one in table)


def test_certainty_that_is_always_right_has_no_error_and_nothing_has_none_to_speak_of() -> None:
    assert expected_calibration_error(reliability([1.0, 0.0], [1, 0])) == 0
    assert math.isnan(expected_calibration_error(reliability([], [])))


def test_what_is_no_probability_is_refused() -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        reliability([1.2], [1])
