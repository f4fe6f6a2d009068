"""Attention for sequences that lie end to end in one row, so that every other layer works without padding.

Sequences may share their beginnings: such tokens lie in the row once, and all layers but attention see them once. For
the moment of attention the sequences are sorted by length into a few groups, each spread into a rectangle with shared
tokens repeated, then collected again. Rectangles are filled at their right end with any token: causal attention never
looks there. No mask is built, so the fastest kernel there is serves each group. The groups are cut where that leaves
the fewest cells: one pair of 2,000 tokens must not make fifty others as wide.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

NAME = "packed"
GROUP_COST = 2_000
"""Cells that another rectangle must save to be worth its kernels; a batch of 16,384 tokens then has four or five."""
FILLER_ROW = 64


def cuts(lengths: NDArray[np.int64], group_cost: int) -> list[int]:
    """Where to cut sequences, sorted by length, into groups as wide as their longest: the cheapest way there is."""
    count = len(lengths)
    before = np.arange(count)
    cheapest, begun = np.zeros(count + 1, np.int64), np.zeros(count + 1, np.int64)
    for end in range(1, count + 1):
        cost = cheapest[:end] + (end - before[:end]) * lengths[end - 1] + group_cost
        begun[end] = cost.argmin()
        cheapest[end] = cost[begun[end]]
    found = []
    while count := int(begun[count]):
        found.append(count)
    return found[::-1]


@dataclass(frozen=True)
class Layout:
    """How a row of tokens becomes rectangles.

    ``take`` fills their cells with tokens, and ``back`` names the one cell of each token that is collected: the others
    repeat a shared token or fill a rectangle.
    """

    shapes: tuple[tuple[int, int], ...]
    take: Tensor
    back: Tensor

    @property
    def sizes(self) -> list[int]:
        return [rows * widest for rows, widest in self.shapes]

    @classmethod
    def of(
        cls,
        sequences: Sequence[NDArray[np.int64]],
        tokens: int,
        device: torch.device | str,
        group_cost: int = GROUP_COST,
    ) -> Layout:
        """Each sequence names its tokens by their place in the row; tokens of none are filler at the row's end."""
        used = 1 + max(int(sequence.max()) for sequence in sequences)
        filler = np.array_split(np.arange(used, tokens), range(FILLER_ROW, tokens - used, FILLER_ROW))
        sequences = [*sequences, *(part for part in filler if len(part))]
        lengths = np.array([len(sequence) for sequence in sequences])
        order = np.argsort(lengths, kind="stable")
        take, shapes = [], []
        for rows in np.split(order, cuts(lengths[order], group_cost)):
            cells = np.zeros((len(rows), int(lengths[rows].max())), np.int64)
            for cell, row in zip(cells, rows.tolist(), strict=True):
                cell[: lengths[row]] = sequences[row]
                cell[lengths[row] :] = sequences[row][-1]
            take.append(cells.ravel())
            shapes.append(cells.shape)
        taken = np.concatenate(take)
        found, back = np.unique(taken, return_index=True)
        if len(found) != tokens:
            raise ValueError(f"the sequences hold {len(found)} of {tokens} tokens")
        return cls(tuple(shapes), _to(taken, device), _to(back, device))


def _to(array: NDArray[Any], device: torch.device | str) -> Tensor:
    tensor = torch.from_numpy(array)
    if torch.device(device).type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor


# The layout of the batch at work. It does not travel through the layers as an argument: its sizes change with every
# batch, and a compiled layer that saw them would be compiled anew each time.
_current: ContextVar[Layout] = ContextVar("layout")


@contextmanager
def laid_out(layout: Layout) -> Iterator[None]:
    """Attend within these sequences while the block runs."""
    token = _current.set(layout)
    try:
        yield
    finally:
        _current.reset(token)


def again() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
    """For a checkpointed layer: what its forward pass runs within, and its second one, in the midst of the backward."""
    return nullcontext(), laid_out(_current.get())


class _Spread(torch.autograd.Function):
    """Tokens into rectangles; what a shared token did in several sequences is summed, in float32."""

    @staticmethod
    def forward(ctx: Any, tokens: Tensor, layout: Layout) -> Tensor:
        ctx.layout = layout
        return tokens.index_select(0, layout.take)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (cells,), layout = gradients, ctx.layout
        tokens = cells.new_zeros((len(layout.back), *cells.shape[1:]), dtype=torch.float32)
        return tokens.index_add_(0, layout.take, cells.float()).to(cells.dtype), None


class _SpreadOnce(_Spread):
    """The same for queries: only the cell that is collected has a gradient, so it is gathered and never summed."""

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0].index_select(0, ctx.layout.back), None


class _Collect(torch.autograd.Function):
    """Rectangles into tokens. What repeated a token or filled a rectangle gets no gradient."""

    @staticmethod
    def forward(ctx: Any, cells: Tensor, layout: Layout) -> Tensor:
        ctx.layout = layout
        return cells.index_select(0, layout.back)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (tokens,), layout = gradients, ctx.layout
        cells = tokens.new_zeros((len(layout.take), *tokens.shape[1:]))
        return cells.index_copy_(0, layout.back, tokens), None


def packed_attention(
    module: torch.nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    **_: Any,
) -> tuple[Tensor, None]:
    """What transformers calls for each layer: heads of one row of tokens in, the same row out."""
    layout = _current.get()
    once: Any = _SpreadOnce.apply
    spread: Any = _Spread.apply
    collect: Any = _Collect.apply
    states = [
        how(state[0].transpose(0, 1), layout)
        for how, state in zip((once, spread, spread), (query, key, value), strict=True)
    ]
    outputs = []
    for (rows, widest), *cells in zip(layout.shapes, *(state.split(layout.sizes) for state in states), strict=True):
        q, k, v = (cell.unflatten(0, (rows, widest)).transpose(1, 2) for cell in cells)
        grouped = q.shape[1] != k.shape[1]
        found = scaled_dot_product_attention(q, k, v, is_causal=True, scale=scaling, enable_gqa=grouped)
        outputs.append(found.transpose(1, 2).flatten(0, 1))
    return collect(torch.cat(outputs), layout)[None], None


def register() -> None:
    """Make it known to transformers under its name, and keep the compiler out: its rectangles change every batch."""
    from transformers import AttentionInterface

    # cuDNN plans its kernels anew for every shape, which here means for every batch, and takes ten times as long.
    torch.backends.cuda.enable_cudnn_sdp(False)
    not_compiled: Any = torch.compiler.disable
    AttentionInterface.register(NAME, not_compiled(packed_attention))
