from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset.weights import HEAVIEST, ORDINARY_SHARE, even, sample_weights

COUNTS = st.dictionaries(st.tuples(st.sampled_from("abcdefg"), st.booleans()), st.integers(1, 50_000), min_size=1)


@settings(max_examples=50)
@given(COUNTS)
def test_weights_average_one(counts: dict[tuple[str, bool], int]) -> None:
    weights = sample_weights(counts)
    assert sum(weights[key] * counts[key] for key in counts) / sum(counts.values()) == pytest.approx(1)


@settings(max_examples=50)
@given(COUNTS)
def test_a_smaller_source_never_weighs_less_per_sample(counts: dict[tuple[str, bool], int]) -> None:
    weights = sample_weights(counts)
    for one in counts:
        for other in counts:
            if one[1] == other[1] and counts[one] <= counts[other]:
                assert weights[one] >= weights[other] - 1e-9


def test_sources_of_like_size_get_equal_totals_and_ordinary_pairs_their_share() -> None:
    counts = {("blend", True): 40_000, ("epic", True): 8_000, ("normad", True): 6_000, ("assistant", False): 9_000}
    weights = sample_weights(counts)
    totals = {key: weights[key] * count for key, count in counts.items()}
    assert totals["blend", True] == pytest.approx(totals["epic", True]) == pytest.approx(totals["normad", True])
    assert totals["assistant", False] / sum(totals.values()) == pytest.approx(ORDINARY_SHARE)


def test_a_tiny_source_is_not_weighed_beyond_the_bound() -> None:
    weights = even({"large": 50_000, "tiny": 100}, 50_100, HEAVIEST)
    assert weights["tiny"] == HEAVIEST
    assert weights["large"] * 50_000 == pytest.approx(50_100 - HEAVIEST * 100)


def test_one_kind_alone_takes_all_the_weight() -> None:
    assert sample_weights({("assistant", False): 10}) == {("assistant", False): 1}
    assert sample_weights({("blend", True): 10}) == {("blend", True): 1}
    assert sample_weights({}) == {}
