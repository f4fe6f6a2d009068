"""Memory that a long-lived process no longer needs, back to the system."""

from __future__ import annotations

import ctypes
import gc
from collections.abc import Iterator
from contextlib import contextmanager

ARENA_MAX = -8  # the number of this setting in glibc's malloc.h


def few_heaps() -> None:
    """Have the threads to come share two heaps, where glibc would give them eight a core.

    What one thread freed serves no thread with another heap, so a process with many threads that come and go, as Ray's
    drivers are, holds more the longer it lives.
    """
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt is not None:
        mallopt(ARENA_MAX, 2)


@contextmanager
def nothing_collected() -> Iterator[None]:
    """Around imports of thousands of modules, all of which stay: Python would search them for garbage over and over."""
    before = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if before:
            gc.enable()


def give_back() -> None:
    """Let go of dead objects that refer to each other, then of the pages that the C library keeps for later.

    Python looks for such circles seldom in a process with many objects, and glibc keeps freed pages that lie between
    used ones until it is told to part with them. Other C libraries have no such call.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
