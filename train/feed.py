"""Batches on the device in time: the next one is packed while this one trains."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from train.batches import Turn, pack
from train.examples import Examples
from train.step import OnDevice

Where = TypeVar("Where")


def feed(
    turns: Iterator[tuple[Where, list[Turn]]], examples: Examples, batch_tokens: int, device: torch.device
) -> Iterator[tuple[Where, OnDevice]]:
    """The turns of each batch as tensors, beside the place in the run that was given with them."""

    def load() -> tuple[Where, OnDevice] | None:
        found = next(turns, None)
        return found and (found[0], OnDevice.of(pack(examples, found[1], batch_tokens), device))

    with ThreadPoolExecutor(1) as pool:
        coming = pool.submit(load)
        while now := coming.result():
            coming = pool.submit(load)
            yield now
