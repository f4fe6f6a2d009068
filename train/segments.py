"""Attention by segments: each token asks once, and looks back over its whole sequence, shared beginnings included.

A sequence's own tokens, those that no sequence before it has, are its end and lie together in the row. So the row is
cut into segments, one a sequence, and only keys and values, of which there are few heads, are repeated. That takes a
kernel for sequences of any length whose last query sees the last key. PyTorch has one for GPUs, but says neither that
it has it everywhere nor on which side queries and keys are aligned, so a device is tried out before it is relied on.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from train.rectangles import Rectangles
from train.rows import Spread, filler, to_device


def flash(query: Tensor, key: Tensor, value: Tensor, segments: Segments, scale: float | None) -> Tensor:
    """PyTorch's own kernel. Its public door, ``varlen_attn``, has another signature in every release."""
    found = torch.ops.aten._flash_attention_forward(
        query,
        key,
        value,
        segments.asked,
        segments.seen,
        segments.most_asked,
        segments.most_seen,
        0.0,
        True,
        False,
        scale=scale,
    )
    output: Tensor = found[0]
    return output


@dataclass(frozen=True)
class Segments:
    """Where the segments of a row begin, and the keys of each.

    ``take`` names the tokens that are the keys of each segment, end to end. Queries of segment i are the row's tokens
    from ``asked[i]`` to ``asked[i + 1]``, its keys those of ``take`` from ``seen[i]`` to ``seen[i + 1]``.
    """

    take: Tensor
    asked: Tensor
    seen: Tensor
    most_asked: int
    most_seen: int

    @classmethod
    def of(cls, sequences: Sequence[NDArray[np.int64]], tokens: int, device: torch.device | str) -> Segments:
        """Each sequence names its tokens by their place in the row; tokens of none are filler at the row's end."""
        at, ends, keys = 0, [0], []
        for sequence in (*sequences, *filler(sequences, tokens)):
            own = np.flatnonzero(sequence >= at)
            if not len(own):
                continue  # an earlier sequence begins with all of it
            if not np.array_equal(sequence[own[0] :], np.arange(at, at + len(sequence) - own[0])):
                raise ValueError(f"the sequence that begins to be new at {at} does not go on from there")
            at += len(own)
            ends.append(at)
            keys.append(sequence)
        if at != tokens:
            raise ValueError(f"the sequences hold {at} of {tokens} tokens")
        lengths = np.array([len(sequence) for sequence in keys])
        asked, seen = np.array(ends, np.int32), np.append(0, lengths.cumsum()).astype(np.int32)
        return cls(
            to_device(np.concatenate(keys), device),
            to_device(asked, device),
            to_device(seen, device),
            int(np.diff(asked).max()),
            int(lengths.max()),
        )

    def attend(self, query: Tensor, key: Tensor, value: Tensor, scale: float | None, kernel: Kernel = flash) -> Tensor:
        """Heads of each token of the row in, the same out."""
        spread: Any = Spread.apply
        return kernel(query, spread(key, self.take), spread(value, self.take), self, scale)


Kernel = Callable[[Tensor, Tensor, Tensor, Segments, float | None], Tensor]


@cache
def serve(device: torch.device) -> bool:
    """Whether segments can be relied on there: a GPU whose kernel gives what rectangles give, tried once."""
    return device.type == "cuda" and agree(flash, device, torch.bfloat16)


@torch.enable_grad()  # whoever asks first may be deciding, without gradients
def agree(kernel: Kernel, device: torch.device, dtype: torch.dtype, tolerance: float = 0.03) -> bool:
    """Whether the kernel's outputs and gradients are those of rectangles, on a few sequences that share beginnings."""
    sequences = [np.arange(0, 70), np.append(np.arange(0, 30), np.arange(70, 75)), np.arange(75, 95)]
    tokens = 100
    generator = torch.Generator().manual_seed(0)
    drawn = [torch.randn(tokens, heads, 64, generator=generator) for heads in (4, 2, 2, 4)]

    def results(attend: Callable[[Tensor, Tensor, Tensor], Tensor]) -> list[Tensor]:
        query, key, value, told = (part.to(device, dtype) for part in drawn)
        states = [state.requires_grad_() for state in (query, key, value)]
        output = attend(*states)
        return [output, *torch.autograd.grad(output, states, told)]

    segments, plain = Segments.of(sequences, tokens, device), Rectangles.of(sequences, tokens, device)
    try:
        found = results(lambda q, k, v: segments.attend(q, k, v, None, kernel))
    except (RuntimeError, TypeError):  # no such kernel for this device, or one that takes other arguments
        return False
    wanted = results(lambda q, k, v: plain.attend(q, k, v, None))
    return all(
        bool((one - other).abs().max() <= tolerance * other.abs().max())
        for one, other in zip(found, wanted, strict=True)
    )
