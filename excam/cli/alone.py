"""One command at a time in a folder that a run is kept in."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from excam.fault import UserError


def alone_in(out: Path) -> AbstractContextManager[Any]:
    """The folder, held until the command ends, however it ends: two runs in one would take each other's files."""
    from filelock import FileLock, Timeout

    out.mkdir(parents=True, exist_ok=True)
    try:
        return FileLock(out / ".lock").acquire(timeout=0)
    except Timeout:
        raise UserError(f"another run is at work in {out}", "wait for its end, or choose another folder") from None
