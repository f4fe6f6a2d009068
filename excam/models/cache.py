"""The cache folder: whole folders appear in it at once, with a manifest of their hashes, made by one process at a time.

Layout below ``$EXCAM_CACHE`` (default ``~/.cache/excam``): ``gguf/`` pinned files, ``models/`` converted bases,
``merged/`` bases with an adapter merged in, ``names/`` of countries, ``languages/``, ``downloads/`` what is incomplete,
``tmp/``, ``locks/``, ``digests/``.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from excam.fault import UserError
from excam.models.digest import file_sha256, remember, remembered_sha256
from excam.models.sources import Progress, quiet

MANIFEST = "excam-manifest.json"


def cache_root(cache: Path | None = None) -> Path:
    """The cache folder in use: the caller's, else ``$EXCAM_CACHE``, else ``~/.cache/excam``."""
    return Path(cache or os.environ.get("EXCAM_CACHE") or "~/.cache/excam").expanduser()


def digests(root: Path) -> Path:
    """Where hashes are remembered."""
    return root / "digests"


@contextmanager
def only_one(root: Path, name: str, progress: Progress = quiet) -> Iterator[None]:
    """Hold the lock of that name: a second process waits, and finds the work done. A dead holder's lock is free."""
    from filelock import FileLock, Timeout

    (root / "locks").mkdir(parents=True, exist_ok=True)
    lock = FileLock(root / "locks" / f"{name}.lock")
    try:
        lock.acquire(timeout=0)
    except Timeout:
        progress(f"waiting for another process that works on {name}", 0, 0)
        lock.acquire()
    try:
        yield
    finally:
        lock.release()


@contextmanager
def draft_in(home: Path, kind: str) -> Iterator[Path]:
    """Give a folder to fill in ``home``, where it may be renamed; what is not renamed goes at the end.

    Whoever fills one holds the lock beside it: the drafts of this kind whose lock is free are those of processes that
    died, and are removed.
    """
    from filelock import FileLock

    home.mkdir(parents=True, exist_ok=True)
    for left in home.glob(f".{kind}-*.lock"):
        with suppress(OSError), FileLock(left).acquire(timeout=0):
            shutil.rmtree(left.with_suffix(""), ignore_errors=True)
            left.unlink()
    draft = home / f".{kind}-{secrets.token_hex(8)}"
    lock = draft.with_name(f"{draft.name}.lock")
    try:
        with FileLock(lock):
            draft.mkdir(mode=0o700)
            yield draft
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        lock.unlink(missing_ok=True)


@contextmanager
def appearing(root: Path, target: Path, facts: dict[str, object]) -> Iterator[Path]:
    """Give a folder to fill; it becomes ``target`` with a manifest in one rename, or leaves nothing behind.

    The caller holds the lock of what is made, so whatever is there as ``target`` is broken, and is replaced.
    """
    from safetensors import SafetensorError

    with draft_in(root / "tmp", "making") as draft:
        try:
            yield draft
            files = {path.name: file_sha256(path) for path in sorted(draft.iterdir())}
            (draft / MANIFEST).write_text(json.dumps({**facts, "files": files}, indent=1), "utf-8")
            draft.chmod(0o755)  # a draft is private; a cache may be shared
            if target.exists():
                shutil.rmtree(target)
            target.parent.mkdir(parents=True, exist_ok=True)
            draft.rename(target)
        except SafetensorError as problem:  # its writer has no other error for a disk that is full
            raise UserError(
                f"{target} cannot be written: {problem}", "make room, or set EXCAM_CACHE to a folder that has room"
            ) from problem
    for name, sha in files.items():
        remember(target / name, sha, digests(root))


def is_whole(folder: Path, facts: dict[str, object], memory: Path, progress: Progress = quiet) -> bool:
    """Whether the folder was made from these facts and every file still has the hash its manifest gives."""
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        files = manifest.pop("files")
        return bool(manifest == facts) and all(
            remembered_sha256(folder / name, memory, progress) == sha for name, sha in files.items()
        )
    except (OSError, ValueError, KeyError, AttributeError, TypeError):
        return False
