"""Rectangles: every token once, and as few cells as can be."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from train.rectangles import Rectangles, cuts


@given(
    lengths=st.lists(st.integers(1, 90), min_size=1, max_size=30),
    shared=st.integers(0, 20),
    filler=st.integers(0, 300),
    group_cost=st.integers(0, 500),
)
@settings(max_examples=50, deadline=None)
def test_every_token_is_collected_from_one_place(lengths: list[int], shared: int, filler: int, group_cost: int) -> None:
    ends = np.cumsum([shared, *lengths])
    sequences = [
        np.concatenate([np.arange(shared), np.arange(start, end)]) for start, end in itertools.pairwise(ends.tolist())
    ]
    tokens = int(ends[-1]) + filler
    rectangles = Rectangles.of(sequences, tokens, "cpu", group_cost)
    assert torch.equal(rectangles.take[rectangles.back], torch.arange(tokens))
    assert sum(rows * widest for rows, widest in rectangles.shapes) == len(rectangles.take)


@given(lengths=st.lists(st.integers(1, 50), min_size=1, max_size=8).map(sorted), group_cost=st.integers(0, 60))
def test_groups_of_like_length_leave_the_fewest_cells(lengths: list[int], group_cost: int) -> None:
    def cost(ends: Sequence[int]) -> int:
        edges = itertools.pairwise([0, *ends, len(lengths)])
        return sum((end - start) * lengths[end - 1] + group_cost for start, end in edges)

    places = range(1, len(lengths))
    every_way = (chosen for count in range(len(lengths)) for chosen in itertools.combinations(places, count))
    assert cost(cuts(np.array(lengths), group_cost)) == min(map(cost, every_way))


def test_one_long_sequence_does_not_widen_the_others() -> None:
    rectangles = Rectangles.of(
        [np.arange(at, at + 10) for at in range(0, 500, 10)] + [np.arange(500, 2500)], 2500, "cpu", 100
    )
    assert rectangles.shapes == ((50, 10), (1, 2000))
