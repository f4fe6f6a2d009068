"""A LoRA of our own: master weights in float32, arithmetic in the base's type, nothing that stops the compiler."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import torch
from torch import Tensor, nn
from torch.nn import functional

from excam.fault import UserError


class Lora(nn.Module):
    """A frozen linear layer with a trainable update of low rank beside it: W·x + scale·B·A·x."""

    def __init__(self, base: nn.Linear, rank: int, scale: float, dropout: float) -> None:
        super().__init__()
        self.base = base
        self.scale = scale
        self.dropout = dropout
        self.down = nn.Parameter(torch.empty(rank, base.in_features, device=base.weight.device))
        self.up = nn.Parameter(torch.zeros(base.out_features, rank, device=base.weight.device))

    def forward(self, states: Tensor) -> Tensor:
        kind = self.base.weight.dtype
        seen = functional.dropout(states, self.dropout, self.training) if self.dropout else states
        update = functional.linear(functional.linear(seen, self.down.to(kind)), (self.up * self.scale).to(kind))
        return functional.linear(states, self.base.weight, self.base.bias) + update


def attach(model: nn.Module, *, layers: Iterable[str], rank: int, alpha: float, dropout: float, seed: int) -> None:
    """Freeze the model and give each named linear layer an adapter, drawn from the seed alone."""
    model.requires_grad_(False)
    wanted = frozenset(layers)
    found = [(name, module) for name, module in model.named_modules() if name.rpartition(".")[2] in wanted]
    if not found:
        raise UserError(f"the model has no layer called {' or '.join(sorted(wanted))}", "name layers of this base")
    generator = torch.Generator().manual_seed(seed)
    for name, module in found:
        if not isinstance(module, nn.Linear):
            raise UserError(f"{name} is not a linear layer", "name linear layers only")
        adapted = Lora(module, rank, alpha / rank, dropout)
        bound = module.in_features**-0.5
        start = torch.empty(adapted.down.shape).uniform_(-bound, bound, generator=generator)
        adapted.down.data.copy_(start)
        parent, _, leaf = name.rpartition(".")
        setattr(model.get_submodule(parent), leaf, adapted)


def adapters(model: nn.Module) -> dict[str, Lora]:
    """Every adapter by the name its linear layer has in the base model."""
    return {name: module for name, module in model.named_modules() if isinstance(module, Lora)}


def parameters(model: nn.Module) -> dict[str, nn.Parameter]:
    """What trains, by name."""
    return {
        f"{name}.{part}": getattr(module, part) for name, module in adapters(model).items() for part in ("down", "up")
    }


@torch.no_grad()
def factors(adapter: Lora, rank: int) -> tuple[Tensor, Tensor]:
    """The best update of that rank as (A, B) with B·A = the scaled update, the singular values shared between both.

    A layer narrower than the rank has zeros in what it cannot use.
    """
    outer, left = torch.linalg.qr(adapter.up.float())
    inner, right = torch.linalg.qr(adapter.down.float().T)
    u, s, v = torch.linalg.svd(adapter.scale * left @ right.T, full_matrices=False)
    root = s[:rank].sqrt()
    down, up = root[:, None] * (inner @ v[:rank].T).T, outer @ u[:, :rank] * root
    unused = rank - len(root)
    return functional.pad(down, (0, 0, 0, unused)), functional.pad(up, (0, unused))


@torch.no_grad()
def begin(model: nn.Module, updates: Mapping[str, tuple[Tensor, Tensor]], share: float = 1.0) -> None:
    """Put a share of updates (A, B), by the layer's name, in place of what the adapters hold; a higher rank is cut.

    Where the adapter has room left, its other rows stay as they were drawn, so that all of its rank can train.
    """
    if updates.keys() != adapters(model).keys():
        raise UserError(
            "the adapter to begin with changes other layers than this base and recipe train",
            "take its own base, and the same layers",
        )
    for name, adapter in adapters(model).items():
        down, up = (part.to(adapter.down) for part in updates[name])
        if (up.shape[0], down.shape[1]) != adapter.base.weight.shape:
            raise UserError(f"the adapter to begin with does not fit: {name} has another shape", "take its own base")
        full = adapter.down.shape[0]
        if len(down) > full:
            wide = Lora(adapter.base, len(down), 1.0, 0.0)
            wide.down.copy_(down)
            wide.up.copy_(up)
            down, up = factors(wide, full)
        adapter.down[: len(down)] = down
        adapter.up.zero_()[:, : len(down)] = up * share / adapter.scale


@torch.no_grad()
def shrink(model: nn.Module, rank: int) -> None:
    """Cut every adapter to its best ``rank`` in place.

    The rows and columns cut off become zero in both factors, and so does their gradient: training goes on within the
    lower rank while no shape changes, so that nothing is compiled anew.
    """
    for adapter in adapters(model).values():
        down, up = factors(adapter, rank)
        adapter.down.zero_()[: len(down)] = down
        adapter.up.zero_()[:, : len(down)] = up / adapter.scale
