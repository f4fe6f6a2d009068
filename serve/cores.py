"""How a machine without a GPU is shared out: several engines with few threads each, where memory has room for them.

Two engines of one thread judge a third to a half more than one engine of two: threads of one engine wait for each
other after every operation, and whatever else runs on a core makes all of them wait (docs/decisions/152).
"""

from __future__ import annotations

import os
from pathlib import Path

from excam.models.registry import known
from serve.settings import JudgeSettings

MOST = 4  # more were never measured
PROGRAM_BYTES = 2 * 2**30  # an engine's own memory beside weights, keys and values
UNPACKED = 3  # weights in bf16 against the packed file that a name of the registry stands for
BF16_FLAGS = {"amx_bf16", "avx512_bf16", "bf16"}  # as Linux names them on x86 and on ARM
SHARE = 0.5  # of the machine's memory that engines may take together


def engines_of(settings: JudgeSettings) -> int:
    """How many engines one replica on a CPU runs: as many as asked for, else one a core while memory lasts."""
    asked = settings.engine.cpu_engines
    if asked != "auto":
        return asked
    weights = _weight_bytes(settings.base)
    if weights is None:
        return 1
    weights *= 2 if dtype_of(settings) == "float32" else 1
    each = weights + settings.engine.cpu_kv_cache_gib * 2**30 + PROGRAM_BYTES
    return max(1, min(threads_of(settings), MOST, int(SHARE * _memory() / each)))


def threads_of(settings: JudgeSettings) -> int:
    """Threads of all engines of a replica together."""
    return settings.engine.cpu_threads or os.cpu_count() or 1


def dtype_of(settings: JudgeSettings) -> str:
    """How weights are held on a CPU: without instructions for bf16 every product is made a slow way round."""
    asked = settings.engine.cpu_dtype
    if asked != "auto":
        return asked
    return "bfloat16" if BF16_FLAGS & _cpu_flags() else "float32"


def _weight_bytes(base: str) -> int | None:
    """About how much memory the weights take in bf16; None where only the hub could say."""
    if base in known():
        return UNPACKED * known()[base].bytes
    return sum(file.stat().st_size for file in Path(base).expanduser().glob("*.safetensors")) or None


def _cpu_flags() -> set[str]:
    try:
        lines = Path("/proc/cpuinfo").read_text("ascii", errors="replace").splitlines()
    except OSError:  # not Linux
        return set()
    return {flag for line in lines if line.startswith(("flags", "Features")) for flag in line.split()}


def _memory() -> int:
    """This machine's memory, or this container's where it has less."""
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    try:
        return min(machine, int(Path("/sys/fs/cgroup/memory.max").read_text("ascii")))
    except (OSError, ValueError):  # no control group, or one without a limit
        return machine
