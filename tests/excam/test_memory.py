"""Freed memory goes back to the system, also from between what is still in use."""

from __future__ import annotations

import platform

import psutil
import pytest

from excam.memory import give_back

BLOCKS, BYTES, KEPT = 100_000, 1_000, 1_000


def held() -> int:
    return int(psutil.Process().memory_info().rss)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the call is glibc's")
def test_pages_between_used_blocks_are_given_back() -> None:
    blocks = [bytes(BYTES) for _ in range(BLOCKS)]
    kept = blocks[:: BLOCKS // KEPT]
    del blocks
    before = held()
    give_back()
    assert before - held() > BLOCKS * BYTES / 2
    assert len(kept) == KEPT


def test_circles_are_let_go_of() -> None:
    class Alive:
        count = 0

        def __init__(self) -> None:
            self.itself = self
            Alive.count += 1

        def __del__(self) -> None:
            Alive.count -= 1

    for _ in range(10):
        Alive()
    give_back()
    assert Alive.count == 0
