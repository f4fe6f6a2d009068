"""Everything a run needs to go on where it stopped, in one file that appears whole or not at all."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from train import lora

FILE = "checkpoint.pt"


@dataclass
class Place:
    """Where a run stands.

    The data's order follows from seed and epoch, so two numbers find the next batch; what is dropped out of a step
    follows from seed, step and worker.
    """

    epoch: int = 0
    batch: int = 0
    step: int = 0
    skipped: int = 0
    shrunk_at: int = 0
    shrunk: bool = False
    averaged: int = 0
    seconds: float = 0.0


def save(folder: Path, place: Place, model: Any, optimizer: torch.optim.Optimizer, mean: dict[str, Tensor]) -> None:
    draft = folder / f".{FILE}"
    weights = {name: parameter.detach() for name, parameter in lora.parameters(model).items()}
    state = {"place": asdict(place), "weights": weights, "optimizer": optimizer.state_dict(), "mean": mean}
    torch.save(state, draft)
    draft.rename(folder / FILE)


def load(
    folder: Path, model: Any, optimizer: torch.optim.Optimizer, device: torch.device
) -> tuple[Place, dict[str, Tensor]] | None:
    """Put the saved state into model and optimizer; None where there is none."""
    if not (folder / FILE).is_file():
        return None
    state = torch.load(folder / FILE, map_location=device, weights_only=True)
    put(model, state["weights"])
    fused = [group["fused"] for group in optimizer.param_groups]
    optimizer.load_state_dict(state["optimizer"])
    for group, way in zip(optimizer.param_groups, fused, strict=True):
        group["fused"] = way  # a saved run's groups say how its own code stepped
    return Place(**state["place"]), state["mean"]


@torch.no_grad()
def put(model: Any, weights: dict[str, Tensor]) -> None:
    """Copy adapter weights into the model."""
    for name, parameter in lora.parameters(model).items():
        parameter.copy_(weights[name])
