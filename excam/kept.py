"""Files in the cache that spare a process a second's work: each belongs to what it was made from, and may be missing.

Where one cannot be written, every process makes its own, which costs time and nothing else.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from glob import escape
from pathlib import Path


def kept_file(kind: str, name: str) -> Path:
    """Where such a file is, or would be."""
    from excam.models.cache import cache_root

    return cache_root() / kind / name


def keep(path: Path, write: Callable[[Path], object]) -> None:
    """Have the file written beside its place and put there whole; on a disk that is full nothing stays of it.

    What processes that died left half written goes too. One that is still writing finds its own gone and needs none.
    """
    draft = path.with_name(f"{path.stem}.{os.getpid()}{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        write(draft)
        draft.replace(path)
        for left in path.parent.glob(f"{escape(path.stem)}.*{path.suffix}"):
            left.unlink(missing_ok=True)
    except OSError:
        with suppress(OSError):
            draft.unlink(missing_ok=True)
