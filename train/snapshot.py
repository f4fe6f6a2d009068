"""Ray Train's list of a run's checkpoints, kept whole.

Ray writes it in place at every checkpoint: a full disk or a kill at that moment leaves half of it or nothing, and no
run can be taken up from that. So a spare is made of each list that is whole. Ray deletes old checkpoints only after it
has written a list without them, hence those on the spare are still there when the list after it was cut short.
"""

from __future__ import annotations

import json
from typing import Any

from ray.train import UserCallback

from train.storage import Folder

FILE = "checkpoint_manager_snapshot.json"
SPARE = f"spare_{FILE}"


class Spares(UserCallback):  # type: ignore[misc]
    """Makes the spare after every checkpoint."""

    def __init__(self, folder: Folder) -> None:
        self._folder = folder

    def after_report(self, run_context: Any, metrics: list[dict[str, Any]], checkpoint: Any) -> None:
        if checkpoint is not None and (found := self._folder.read(FILE)) is not None:
            self._folder.write(SPARE, found)


def mended(folder: Folder) -> bool:
    """Whether there is a list of checkpoints; one that was cut short is replaced by its spare, or removed."""
    for name, other in ((FILE, SPARE), (SPARE, FILE)):
        found = folder.read(name)
        if found is not None and _is_whole(found):
            folder.write(other, found)
            return True
    if folder.read(FILE) is not None:
        folder.remove(FILE)
    return False


def clear_unlisted(folder: Folder) -> None:
    """Remove the checkpoints on no list: each is half of one, left when a disk was full or a worker died.

    Only a worker that begins may ask for this: what another is just handing over is not listed yet.
    """
    lists = [json.loads(found) for found in map(folder.read, (FILE, SPARE)) if found is not None and _is_whole(found)]
    listed = {one["checkpoint_dir_name"] for each in lists for one in each["checkpoint_results"]}
    for name in folder.folders():
        if name.startswith("checkpoint_") and name not in listed:
            folder.remove_folder(name)


def _is_whole(found: bytes) -> bool:
    try:
        return bool(json.loads(found))
    except ValueError:
        return False
