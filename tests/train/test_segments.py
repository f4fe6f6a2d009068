"""Segments: each token asks once, sees its own sequence up to itself, and no kernel is trusted before it was tried."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from tests.train.conftest import toy_examples
from train.attention import lay_out
from train.batches import epoch, pack
from train.rectangles import Rectangles
from train.segments import Segments, agree, flash, serve

CPU = torch.device("cpu")
TOKENS = 256


def plain(
    query: Tensor, key: Tensor, value: Tensor, segments: Segments, scale: float | None, *, last_sees_all: bool = True
) -> Tensor:
    """What the kernel shall do, one segment after the other."""
    group = query.shape[1] // key.shape[1]
    outputs = []
    asked, seen = segments.asked.tolist(), segments.seen.tolist()
    for a, b, c, d in zip(asked, asked[1:], seen, seen[1:], strict=False):
        q, k, v = (
            part.transpose(0, 1)
            for part in (query[a:b], key[c:d].repeat_interleave(group, 1), value[c:d].repeat_interleave(group, 1))
        )
        sees = torch.ones(b - a, d - c, dtype=torch.bool).tril((d - c) - (b - a) if last_sees_all else 0)
        outputs.append(torch.nn.functional.scaled_dot_product_attention(q, k, v, sees, scale=scale).transpose(0, 1))
    return torch.cat(outputs)


def from_the_first(query: Tensor, key: Tensor, value: Tensor, segments: Segments, scale: float | None) -> Tensor:
    """A kernel that aligns the first query with the first key."""
    return plain(query, key, value, segments, scale, last_sees_all=False)


def without_gradient(query: Tensor, key: Tensor, value: Tensor, segments: Segments, scale: float | None) -> Tensor:
    """A kernel that forgets what it did to the values."""
    return plain(query, key, value.detach() + 0 * value, segments, scale)


@settings(max_examples=20, deadline=None)
@given(count=st.integers(2, 60), seed=st.integers(0, 2**32), share=st.floats(0, 1))
def test_every_token_of_a_batch_sees_its_own_sequence_up_to_itself(count: int, seed: int, share: float) -> None:
    examples = toy_examples(count, seed)
    for turns in epoch(examples, seed=seed, number=0, batch_tokens=TOKENS, balance=0.0, report_share=share):
        batch = pack(examples, turns, TOKENS)
        segments = Segments.of(batch.sequences, TOKENS, CPU)
        asked, seen, take = segments.asked.tolist(), segments.seen.tolist(), segments.take.tolist()
        sees: dict[int, list[int]] = {}
        for a, b, c, d in zip(asked, asked[1:], seen, seen[1:], strict=False):
            for place in range(a, b):
                sees[place] = take[c : d - (b - 1 - place)]
        assert sorted(sees) == list(range(TOKENS))
        for sequence in batch.sequences:
            for place, token in enumerate(sequence.tolist()):
                assert sees[token] == sequence[: place + 1].tolist()


@settings(max_examples=10, deadline=None)
@given(count=st.integers(2, 60), seed=st.integers(0, 2**32))
def test_segments_give_what_rectangles_give(count: int, seed: int) -> None:
    examples = toy_examples(count, seed)
    turns = next(epoch(examples, seed=seed, number=0, batch_tokens=TOKENS, balance=0.0, report_share=0.5))
    sequences = pack(examples, turns, TOKENS).sequences
    torch.manual_seed(seed)
    query, key, value = (torch.randn(TOKENS, heads, 8) for heads in (4, 2, 2))
    wanted = Rectangles.of(sequences, TOKENS, CPU).attend(query, key, value, 0.3)
    found = Segments.of(sequences, TOKENS, CPU).attend(query, key, value, 0.3, plain)
    torch.testing.assert_close(found, wanted)


def test_a_sequence_whose_own_tokens_do_not_lie_together_is_refused() -> None:
    examples = toy_examples(20)
    turns = next(epoch(examples, seed=0, number=0, batch_tokens=TOKENS, balance=0.0, report_share=0.5))
    first, *others = pack(examples, turns, TOKENS).sequences
    with pytest.raises(ValueError, match="begins to be new at 0"):
        Segments.of([first[::-1], *others], TOKENS, CPU)


@pytest.mark.parametrize("kernel", [from_the_first, without_gradient, flash])
def test_a_kernel_that_is_not_there_or_does_something_else_is_not_used(kernel: object) -> None:
    assert agree(plain, CPU, torch.float32, 1e-5)
    assert not agree(kernel, CPU, torch.float32)  # type: ignore[arg-type]


def test_a_kernel_is_tried_with_its_gradient_even_by_who_decides_without() -> None:
    with torch.no_grad():
        assert agree(plain, CPU, torch.float32, 1e-5)


def test_a_processor_attends_by_rectangles() -> None:
    assert not serve(CPU)
    examples = toy_examples(20)
    turns = next(epoch(examples, seed=0, number=0, batch_tokens=TOKENS, balance=0.0, report_share=0.5))
    assert isinstance(lay_out(pack(examples, turns, TOKENS).sequences, TOKENS, CPU), Rectangles)
