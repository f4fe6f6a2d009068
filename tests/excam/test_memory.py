"""Freed memory goes back to the system, also from between what is still in use."""

from __future__ import annotations

import gc
import os
import platform
import subprocess
import sys

import psutil
import pytest

from excam.memory import give_back, nothing_collected

BLOCKS, BYTES, KEPT = 100_000, 1_000, 1_000
# In a process of its own, for the setting is the whole process's: in how many heaps sixteen threads at once write.
HEAPS = """
import ctypes, sys, threading
from excam.memory import few_heaps

if sys.argv[1] == "few":
    few_heaps()
malloc = ctypes.CDLL(None).malloc
malloc.restype = ctypes.c_size_t
together, heaps = threading.Barrier(16), set()

def work():
    heaps.add(malloc(5000) >> 26)  # a heap lies within 64 MB
    together.wait()

threads = [threading.Thread(target=work) for _ in range(16)]
[thread.start() for thread in threads], [thread.join() for thread in threads]
print(len(heaps))
"""


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


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="the setting is glibc's")
def test_many_threads_share_few_heaps() -> None:
    usual = {name: value for name, value in os.environ.items() if name not in {"MALLOC_ARENA_MAX", "GLIBC_TUNABLES"}}
    many, few = (
        int(subprocess.check_output([sys.executable, "-c", HEAPS, how], text=True, env=usual))
        for how in ("many", "few")
    )
    assert many > 2, "else there is nothing to mend"
    assert few <= 2


@pytest.mark.parametrize("before", [True, False])
def test_collecting_is_put_off_and_then_as_it_was(before: bool) -> None:
    was = gc.isenabled()
    (gc.enable if before else gc.disable)()
    try:
        with nothing_collected():
            assert not gc.isenabled()
        assert gc.isenabled() is before
    finally:
        (gc.enable if was else gc.disable)()
