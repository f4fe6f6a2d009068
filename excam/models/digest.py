"""SHA-256 of files, remembered by what ``stat`` says, because hashing gigabytes before every start takes seconds."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from excam.models.sources import Progress, quiet

_CHUNK = 4 << 20


def file_sha256(path: Path, progress: Progress = quiet) -> str:
    """Hash the file's bytes, always."""
    sha, done, size = hashlib.sha256(), 0, path.stat().st_size
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            sha.update(chunk)
            done += len(chunk)
            progress(f"checking {path.name}", done, size)
    return sha.hexdigest()


def remembered_sha256(path: Path, memory: Path, progress: Progress = quiet) -> str:
    """The file's hash, computed anew unless size, times, inode and place are those of the last time.

    A file changed by any ordinary means has another time and is hashed again; a copied cache is hashed once more and
    then remembered too.
    """
    note, state = _note(path, memory)
    try:
        seen = json.loads(note.read_text("utf-8"))
        if seen["state"] == state:
            return str(seen["sha256"])
    except (OSError, ValueError, KeyError, TypeError):
        pass  # no note, or one cut short: hash the file
    sha = file_sha256(path, progress)
    _write(note, state, sha)  # the state before reading: a file that changed meanwhile is read again
    return sha


def remember(path: Path, sha: str, memory: Path) -> None:
    """Note a hash that was just computed, where there is a place to note it: a read-only cache only costs time."""
    _write(*_note(path, memory), sha)


def _write(note: Path, state: list[object], sha: str) -> None:
    draft = note.with_suffix(f".{os.getpid()}")
    try:
        note.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(json.dumps({"state": state, "sha256": sha}), "utf-8")
        draft.replace(note)
    except OSError:
        return


def _note(path: Path, memory: Path) -> tuple[Path, list[object]]:
    real = path.resolve()
    stat = real.stat()
    state: list[object] = [str(real), stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino]
    return memory / f"{hashlib.sha256(os.fsencode(real)).hexdigest()[:32]}.json", state


def combined_sha256(hashes: Iterable[tuple[str, str]]) -> str:
    """One hash for many files: SHA-256 over the lines ``HASH  NAME`` sorted by name, as ``sha256sum`` writes them."""
    lines = "".join(f"{sha}  {name}\n" for name, sha in sorted(hashes))
    return hashlib.sha256(lines.encode()).hexdigest()
