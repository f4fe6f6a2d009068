"""Attention for sequences that lie end to end in one row, so that every other layer works without padding.

Sequences may share their beginnings: such tokens lie in the row once, and all layers but attention see them once. How
attention keeps the sequences apart depends on the device: by segments where its kernel serves, else by rectangles.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from train import segments
from train.rectangles import Rectangles
from train.segments import Segments

NAME = "packed"
Layout = Rectangles | Segments


def lay_out(sequences: Sequence[NDArray[np.int64]], tokens: int, device: torch.device) -> Layout:
    """How attention sees a row; each sequence names its tokens by their place in it, and the rest is filler."""
    kind = Segments if segments.serve(device) else Rectangles
    return kind.of(sequences, tokens, device)


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
    query, key, value = (state[0].transpose(0, 1) for state in (query, key, value))
    return _current.get().attend(query, key, value, scaling)[None], None


def register() -> None:
    """Make it known to transformers under its name, and keep the compiler out: its layout changes every batch."""
    from transformers import AttentionInterface

    # cuDNN plans its kernels anew for every shape, which here means for every batch, and takes ten times as long.
    torch.backends.cuda.enable_cudnn_sdp(False)
    not_compiled: Any = torch.compiler.disable
    AttentionInterface.register(NAME, not_compiled(packed_attention))
