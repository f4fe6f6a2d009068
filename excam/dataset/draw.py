"""Randomness that a seed decides: the same draw on every machine, in any file order, under any hash seed."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import Generic, TypeVar

T = TypeVar("T")


def stream(*key: object) -> random.Random:
    """A generator of its own for ``key``: what it draws depends on nothing else."""
    return random.Random("\x1f".join(str(part) for part in key))


def fingerprint(*key: object, length: int = 16) -> str:
    """A short stable name for ``key``: sample ids, twin ids, and the order in which items are dealt."""
    return hashlib.sha256("\x1f".join(str(part) for part in key).encode("utf-8", "replace")).hexdigest()[:length]


def shuffled(values: Sequence[T], *key: object) -> list[T]:
    """``values`` in the order that ``key`` decides."""
    order = list(values)
    stream(*key).shuffle(order)
    return order


class Deck(Generic[T]):
    """Deals every card once before any card twice, reshuffled each round: random, and yet evenly used.

    This is how templates are "selected randomly (but stratified)": a plain random choice would let some wording
    stand more often beside one source or label than another, and a judge would learn the wording.
    """

    def __init__(self, cards: Sequence[T], *key: object) -> None:
        if not cards:
            raise ValueError("a deck needs at least one card")
        self._cards = list(cards)
        self._key = key
        self._round = 0
        self._left: list[T] = []

    def deal(self) -> T:
        if not self._left:
            self._left = shuffled(self._cards, *self._key, self._round)
            self._round += 1
        return self._left.pop()
