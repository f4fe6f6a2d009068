"""Attention for sequences that lie end to end in one row, so that every other layer works without padding.

The sequences of a batch are sorted by length into a few groups; for the moment of attention each group is spread into
a rectangle, then collected again. Rectangles are filled at their right end with whatever lies behind: causal attention
never looks there. No mask is built, so the fastest kernel there is serves each group.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import scaled_dot_product_attention

NAME = "packed"
GROUPS = 4
FILLER_ROW = 64


@dataclass(frozen=True)
class Layout:
    """How a row of tokens becomes rectangles: ``take`` fills them, ``back`` finds each token's place in them."""

    shapes: tuple[tuple[int, int], ...]
    take: Tensor
    back: Tensor
    real: Tensor

    @property
    def sizes(self) -> list[int]:
        return [rows * widest for rows, widest in self.shapes]

    @classmethod
    def of(cls, ends: NDArray[np.int64], tokens: int, device: torch.device | str, groups: int = GROUPS) -> Layout:
        used = int(ends[-1])
        ends = np.concatenate([ends, np.arange(used + FILLER_ROW, tokens + FILLER_ROW, FILLER_ROW)])
        starts = np.concatenate([[0], ends[:-1]])
        lengths = np.minimum(ends, tokens) - starts
        take, back, real = [], np.empty(tokens, np.int64), []
        shapes: list[tuple[int, int]] = []
        base = 0
        for rows in np.array_split(np.argsort(lengths, kind="stable"), groups):
            if not len(rows):
                continue
            widest = int(lengths[rows].max())
            cells = starts[rows, None] + np.arange(widest)
            inside = np.arange(widest) < lengths[rows, None]
            slots = base + np.arange(cells.size).reshape(cells.shape)
            back[cells[inside]] = slots[inside]
            take.append(np.minimum(cells, tokens - 1).ravel())
            real.append(inside.ravel())
            shapes.append((len(rows), widest))
            base += cells.size
        return cls(tuple(shapes), *(_to(part, device) for part in (np.concatenate(take), back, np.concatenate(real))))


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
    """Attend within these sequences while the block runs, backward passes of checkpointed layers included."""
    token = _current.set(layout)
    try:
        yield
    finally:
        _current.reset(token)


class _Spread(torch.autograd.Function):
    """Tokens into rectangles. Each token has one place, so its gradient is gathered and never summed."""

    @staticmethod
    def forward(ctx: Any, tokens: Tensor, layout: Layout) -> Tensor:
        ctx.layout = layout
        return tokens.index_select(0, layout.take)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        return gradients[0].index_select(0, ctx.layout.back), None


class _Collect(torch.autograd.Function):
    """Rectangles into tokens. What only filled a rectangle gets no gradient."""

    @staticmethod
    def forward(ctx: Any, cells: Tensor, layout: Layout) -> Tensor:
        ctx.layout = layout
        return cells.index_select(0, layout.back)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        spread = gradients[0].index_select(0, ctx.layout.take)
        return spread * ctx.layout.real[:, None, None], None


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
    spread: Any = _Spread.apply
    collect: Any = _Collect.apply
    states = [spread(state[0].transpose(0, 1), layout) for state in (query, key, value)]
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
