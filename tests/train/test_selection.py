"""What a run learns from: whole sources left out, or a share of the questions, twins together."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.fault import UserError
from tests.train.conftest import toy_examples
from train.examples import Examples
from train.selection import select, share, weighed, without


def texts(examples: Examples) -> list[list[int]]:
    return [examples.tokens(index).tolist() for index in range(len(examples))]


def test_a_source_left_out_is_gone_and_twins_stay_twins() -> None:
    examples = toy_examples(60)
    left = without(examples, frozenset({"ordinary"}))
    assert len(left) == int((examples.source == 0).sum())
    assert (left.twin >= 0).all()
    for index, twin in enumerate(left.twin.tolist()):
        assert left.twin[twin] == index
        assert {int(left.label[index]), int(left.label[twin])} == {0, 1}
    kept = [examples.tokens(index).tolist() for index in range(len(examples)) if examples.source[index] == 0]
    assert texts(left) == kept


def test_a_twin_left_behind_is_single() -> None:
    examples = toy_examples(20)
    split = replace(examples, source=(examples.label == 1).astype("int16"))
    left = without(split, frozenset({"ordinary"}))
    assert (left.twin == -1).all()


def test_an_unknown_source_is_answered_with_those_there_are() -> None:
    with pytest.raises(UserError, match="no source mars") as fault:
        without(toy_examples(10), frozenset({"mars"}))
    assert "cultural" in fault.value.fix


def test_a_source_may_count_more_or_less_and_the_others_as_before() -> None:
    examples = toy_examples(20)
    lighter = select(examples, counts={"cultural": 0.25})
    here = examples.source == examples.sources.index("cultural")
    np.testing.assert_allclose(lighter.weight[here], examples.weight[here] / 4)
    np.testing.assert_array_equal(lighter.weight[~here], examples.weight[~here])
    assert texts(lighter) == texts(examples)
    with pytest.raises(UserError, match="no source mars"):
        weighed(examples, {"mars": 2.0})


@given(st.floats(0.01, 1), st.integers(0, 5))
def test_a_share_keeps_whole_questions_of_every_source(part: float, seed: int) -> None:
    examples = toy_examples(80)
    some = share(examples, part, seed)
    for source in (0, 1):
        all_of_it = np.unique(examples.group[examples.source == source])
        assert len(np.unique(some.group[some.source == source])) == int(np.ceil(part * len(all_of_it)))
    here = np.isin(examples.group, some.group)
    assert texts(some) == [text for text, kept in zip(texts(examples), here, strict=True) if kept]
    assert ((some.twin >= 0) == (examples.twin[here] >= 0)).all()


def test_a_smaller_share_is_part_of_a_larger_one() -> None:
    examples = toy_examples(80)
    assert set(share(examples, 0.25).group) < set(share(examples, 0.5).group) < set(examples.group)


@pytest.mark.parametrize("part", [0.0, -0.5, 1.5, float("nan")])
def test_a_share_that_is_none_is_refused(part: float) -> None:
    with pytest.raises(UserError, match="cannot be trained on"):
        select(toy_examples(10), part=part)


def test_a_run_learns_from_everything_unless_told_otherwise() -> None:
    examples = toy_examples(40)
    assert select(examples) is examples
    assert set(select(examples, ["ordinary"], 0.5).source) == {0}
