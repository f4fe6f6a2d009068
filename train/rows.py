"""What rows of tokens need, whichever way attention goes: filler, shared tokens repeated, arrays on the device."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

FILLER_ROW = 64


def filler(sequences: Sequence[NDArray[np.int64]], tokens: int) -> list[NDArray[np.int64]]:
    """The tokens at the row's end that belong to no sequence, as sequences of their own."""
    used = 1 + max(int(sequence.max()) for sequence in sequences)
    cut = np.array_split(np.arange(used, tokens), range(FILLER_ROW, tokens - used, FILLER_ROW))
    return [part for part in cut if len(part)]


def to_device(array: NDArray[Any], device: torch.device | str) -> Tensor:
    """The array there, without waiting for it."""
    tensor = torch.from_numpy(array)
    if torch.device(device).type == "cuda":
        return tensor.pin_memory().to(device, non_blocking=True)
    return tensor


class Spread(torch.autograd.Function):
    """Tokens by their places, some several times; what a token did in several places is summed, in float32."""

    @staticmethod
    def forward(ctx: Any, tokens: Tensor, take: Tensor) -> Tensor:
        ctx.take, ctx.count = take, len(tokens)
        return tokens.index_select(0, take)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, None]:
        (cells,) = gradients
        tokens = cells.new_zeros((ctx.count, *cells.shape[1:]), dtype=torch.float32)
        return tokens.index_add_(0, ctx.take, cells.float()).to(cells.dtype), None
