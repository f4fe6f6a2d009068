"""Batches: twins together, nothing lost, nothing over budget, the same order for the same seed."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.fault import UserError
from tests.train.conftest import PREAMBLE, toy_examples
from train.batches import Turn, epoch, in_order, pack, units
from train.examples import ERROR, Examples

TOKENS = 160


def drawn(
    examples: Examples, seed: int = 0, number: int = 0, balance: float = 0.0, share: float = 0.5
) -> list[list[Turn]]:
    return list(epoch(examples, seed=seed, number=number, batch_tokens=TOKENS, balance=balance, report_share=share))


@settings(max_examples=30, deadline=None)
@given(count=st.integers(1, 80), seed=st.integers(0, 2**32), balance=st.floats(0, 1), share=st.floats(0, 1))
def test_no_batch_is_over_its_budget_and_twins_share_one(count: int, seed: int, balance: float, share: float) -> None:
    examples = toy_examples(count, seed)
    for turns in drawn(examples, seed, balance=balance, share=share):
        batch = pack(examples, turns, TOKENS)
        assert len(np.unique(np.concatenate(batch.sequences))) <= TOKENS
        there = Counter(turn.index for turn in turns)
        assert all(examples.twin[index] < 0 or there[int(examples.twin[index])] == n for index, n in there.items())


@given(seed=st.integers(0, 2**32))
@settings(max_examples=10, deadline=None)
def test_without_balancing_an_epoch_holds_every_example_once(seed: int) -> None:
    examples = toy_examples(60, seed)
    seen = Counter(turn.index for turns in drawn(examples, seed) for turn in turns)
    assert seen == Counter(range(len(examples)))


def test_balancing_repeats_by_weight_and_keeps_what_an_example_counts_in_all() -> None:
    examples = toy_examples(60)
    counted: dict[int, float] = dict.fromkeys(range(len(examples)), 0.0)
    for number in range(200):
        for turns in drawn(examples, number=number, balance=0.5):
            for turn in turns:
                counted[turn.index] += turn.weight
    shares = np.array([counted[index] / 200 for index in range(len(examples))])
    assert np.abs(shares - examples.weight).max() < 0.3


def test_the_order_follows_from_seed_and_epoch_alone() -> None:
    examples = toy_examples(60)
    assert drawn(examples, 1, 2) == drawn(examples, 1, 2)
    assert drawn(examples, 1, 2) != drawn(examples, 1, 3)
    assert drawn(examples, 1, 2) != drawn(examples, 2, 2)


def test_classes_are_not_separated_by_the_length_of_their_reports() -> None:
    examples = toy_examples(400)
    for turns in drawn(examples, share=1.0)[:-1]:
        labels = [int(examples.label[turn.index]) for turn in turns]
        assert labels.count(0) == labels.count(1) > 0


@given(seed=st.integers(0, 2**32), share=st.sampled_from([0.0, 0.5, 1.0]))
@settings(max_examples=20, deadline=None)
def test_packing_marks_the_token_before_each_label_and_keeps_every_decision(seed: int, share: float) -> None:
    examples = toy_examples(40, seed)
    for turns in drawn(examples, seed, share=share):
        batch = pack(examples, turns, TOKENS)
        decided_at = batch.decide_at.tolist()
        for turn, sequence, at in zip(turns, batch.sequences, decided_at, strict=True):
            tokens, prompt = examples.tokens(turn.index), int(examples.prompt[turn.index])
            assert batch.ids[sequence].tolist() == tokens[: len(sequence)].tolist()
            assert batch.positions[sequence].tolist() == list(range(len(sequence)))
            depth = sequence.tolist().index(at)
            assert tokens[depth + 1] == examples.decisions[examples.label[turn.index]]
            places = sequence[prompt - 1 :].tolist()
            here = np.isin(batch.text_at, places)
            targets = [int(tokens[sequence.tolist().index(place) + 1]) for place in batch.text_at[here]]
            assert targets == batch.text_target[here].tolist()
            assert at in batch.text_at[here]
            assert batch.text_at[here].min() == sequence[prompt - 1]
        for wrong, right in batch.twins.tolist():
            assert examples.label[turns[wrong].index] == ERROR
            assert examples.twin[turns[wrong].index] == turns[right].index


@given(seed=st.integers(0, 2**32))
@settings(max_examples=20, deadline=None)
def test_what_sequences_share_lies_in_the_row_once(seed: int) -> None:
    examples = toy_examples(40, seed)
    assert examples.preamble >= len(PREAMBLE)
    for turns in drawn(examples, seed, share=1.0):
        batch = pack(examples, turns, TOKENS)
        beginnings = [sequence[: examples.preamble].tolist() for sequence in batch.sequences]
        assert all(beginning == beginnings[0] for beginning in beginnings)
        for wrong, right in batch.twins.tolist():
            shared = int(examples.common[turns[wrong].index])
            assert batch.sequences[wrong][:shared].tolist() == batch.sequences[right][:shared].tolist()
            assert not set(batch.sequences[wrong][shared:].tolist()) & set(batch.sequences[right].tolist())


def test_evaluation_sees_each_chosen_example_once() -> None:
    examples = toy_examples(50)
    chosen = list(range(0, 50, 3))
    assert sorted(turn.index for turns in in_order(examples, chosen, TOKENS) for turn in turns) == chosen
    assert sorted(index for unit in units(examples) for index in unit) == list(range(len(examples)))


def test_an_example_that_no_batch_can_hold_is_a_fault_that_says_what_to_raise() -> None:
    with pytest.raises(UserError, match="tokens, and a batch has 12") as told:
        list(epoch(toy_examples(8), seed=0, number=0, batch_tokens=12, balance=0.0, report_share=1.0))
    assert "raise batch_tokens" in str(told.value)
