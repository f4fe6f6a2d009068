"""Memory that a long-lived process no longer needs, back to the system."""

from __future__ import annotations

import ctypes
import gc


def give_back() -> None:
    """Let go of dead objects that refer to each other, then of the pages that the C library keeps for later.

    Python looks for such circles seldom in a process with many objects, and glibc keeps freed pages that lie between
    used ones until it is told to part with them. Other C libraries have no such call.
    """
    gc.collect()
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if trim is not None:
        trim(0)
