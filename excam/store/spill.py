"""Where DuckDB lays aside what memory does not hold: logged text may be among it, so nobody else can read it there."""

from __future__ import annotations

import os
import secrets
import stat
import tempfile
from functools import cache
from pathlib import Path


def spill_folder() -> str:
    """A folder that DuckDB makes when memory runs short, inside one that only this user can enter.

    Of its own for every database, because DuckDB's file names are not. The outer one stays, empty; what a killed
    process left in it goes when the system clears its temporary files.
    """
    private = Path(tempfile.gettempdir()) / f"excam-{os.geteuid()}"
    try:
        private.mkdir(mode=0o700)
    except FileExistsError:
        if not _only_ours(private):  # somebody else made it first, in a folder where everybody may
            private = _another()
    except OSError:
        pass  # nowhere to write: DuckDB says so if it ever has to
    return str(private / secrets.token_hex(8))


@cache
def _another() -> Path:
    """One a process: a database is opened anew every few commits."""
    return Path(tempfile.mkdtemp(prefix="excam-"))


def _only_ours(folder: Path) -> bool:
    found = folder.lstat()
    return stat.S_ISDIR(found.st_mode) and found.st_uid == os.geteuid() and not found.st_mode & 0o077
