"""Attention by rectangles: what every device and kernel can do.

For the moment of attention the sequences of a row are sorted by length into a few groups, each spread into a rectangle
with shared tokens repeated, then collected again. Rectangles are filled at their right end with any token: causal
attention never looks there. No mask is built, so the fastest kernel there is serves each group. The groups are cut
where that leaves the fewest cells: one pair of 2,000 tokens must not make fifty others as wide.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

from train.rows import Spread, filler, to_device

GROUP_COST = 2_000
"""Cells that another rectangle must save to be worth its kernels; a batch of 16,384 tokens then has four or five."""


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
class Rectangles:
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
    ) -> Rectangles:
        """Each sequence names its tokens by their place in the row; tokens of none are filler at the row's end."""
        sequences = [*sequences, *filler(sequences, tokens)]
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
        return cls(tuple(shapes), to_device(taken, device), to_device(back, device))

    def attend(self, query: Tensor, key: Tensor, value: Tensor, scale: float | None) -> Tensor:
        """Heads of each token of the row in, the same out."""
        once: Any = _SpreadOnce.apply
        spread: Any = Spread.apply
        collect: Any = _Collect.apply
        states = [once(query, self), spread(key, self.take), spread(value, self.take)]
        outputs = []
        for (rows, widest), *cells in zip(self.shapes, *(state.split(self.sizes) for state in states), strict=True):
            q, k, v = (cell.unflatten(0, (rows, widest)).transpose(1, 2) for cell in cells)
            grouped = q.shape[1] != k.shape[1]
            found = scaled_dot_product_attention(q, k, v, is_causal=True, scale=scale, enable_gqa=grouped)
            outputs.append(found.transpose(1, 2).flatten(0, 1))
        gathered: Tensor = collect(torch.cat(outputs), self)
        return gathered


class _SpreadOnce(torch.autograd.Function):
    """Tokens into rectangles, for queries: only the cell that is collected has a gradient, so none is summed."""

    @staticmethod
    def forward(ctx: Any, tokens: Tensor, layout: Rectangles) -> Tensor:
        ctx.layout = layout
        return tokens.index_select(0, layout.take)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0].index_select(0, ctx.layout.back), None


class _Collect(torch.autograd.Function):
    """Rectangles into tokens. What repeated a token or filled a rectangle gets no gradient."""

    @staticmethod
    def forward(ctx: Any, cells: Tensor, layout: Rectangles) -> Tensor:
        ctx.layout = layout
        return cells.index_select(0, layout.back)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (tokens,), layout = gradients, ctx.layout
        cells = tokens.new_zeros((len(layout.take), *tokens.shape[1:]))
        return cells.index_copy_(0, layout.back, tokens), None
