"""Ray Train's list of a run's checkpoints, kept whole.

Ray writes it in place at every checkpoint: a full disk or a kill at that moment leaves half of it or nothing, and no
run can be taken up from that. So a spare is made of each list that is whole. Ray deletes old checkpoints only after it
has written a list without them, hence those on the spare are still there when the list after it was cut short.
"""

from __future__ import annotations

import json
from typing import Any

import fsspec
from ray.train import UserCallback

FILE = "checkpoint_manager_snapshot.json"
SPARE = f"spare_{FILE}"


class Spares(UserCallback):  # type: ignore[misc]
    """Makes the spare after every checkpoint."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def after_report(self, run_context: Any, metrics: list[dict[str, Any]], checkpoint: Any) -> None:
        if checkpoint is not None:
            files, path = fsspec.core.url_to_fs(self._folder)
            _copy(files, path, FILE, SPARE)


def mended(folder: str) -> bool:
    """Whether there is a list of checkpoints; one that was cut short is replaced by its spare, or removed."""
    files, path = fsspec.core.url_to_fs(folder)
    if _is_whole(files, f"{path}/{FILE}"):
        _copy(files, path, FILE, SPARE)
        return True
    if _is_whole(files, f"{path}/{SPARE}"):
        _copy(files, path, SPARE, FILE)
        return True
    if files.exists(f"{path}/{FILE}"):
        files.rm(f"{path}/{FILE}")
    return False


def _is_whole(files: Any, path: str) -> bool:
    try:
        return bool(json.loads(files.cat_file(path)))
    except (FileNotFoundError, ValueError):
        return False


def _copy(files: Any, path: str, name: str, to: str) -> None:
    """The copy appears whole or not at all."""
    files.pipe_file(f"{path}/.{to}", files.cat_file(f"{path}/{name}"))
    files.mv(f"{path}/.{to}", f"{path}/{to}")
