"""Batches on the device in time: the next one is packed while this one trains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from train.batches import Batch, Turn
from train.step import OnDevice

Where = TypeVar("Where")


def feed(
    turns: Iterator[tuple[Where, list[Turn]]], pack: Callable[[Where, list[Turn]], Batch], device: torch.device
) -> Iterator[tuple[Where, OnDevice]]:
    """The turns of each batch as tensors, beside the place in the run that was given with them."""

    def load() -> tuple[Where, OnDevice] | None:
        found = next(turns, None)
        return found and (found[0], OnDevice.of(pack(*found), device))

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(load)
        while now := coming.result():
            coming = pool.submit(load)
            yield now
