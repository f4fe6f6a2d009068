"""What must stay the same for a run to go on, kept beside its checkpoints and looked at before anything starts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Protocol

from excam.fault import UserError
from train.examples import Examples
from train.loop import Run
from train.recipe import Recipe

FILE = "terms.json"


class Keeper(Protocol):
    """Where a run is kept, as far as its terms need it."""

    def read(self, name: str) -> bytes | None: ...

    def write(self, name: str, content: bytes) -> None: ...


class Disk:
    """A folder of this machine, for hosts that train with nothing but torch and transformers: no Arrow."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def read(self, name: str) -> bytes | None:
        file = self._path / name
        return file.read_bytes() if file.is_file() else None

    def write(self, name: str, content: bytes) -> None:
        self._path.mkdir(parents=True, exist_ok=True)
        draft = self._path / f".{name}"
        draft.write_bytes(content)
        draft.replace(self._path / name)


def terms_of(recipe: Recipe, run: Run, train: Examples, base_sha256: str, workers: int) -> dict[str, Any]:
    """What a run cannot change on its way; how long it goes on, and how it is computed, it can.

    The number of workers is among it: how many batches a step takes decides how far a number of steps has come.
    """
    learns = {"base": base_sha256, "dataset": train.dataset, "without": sorted(run.without), "share": run.share}
    learns |= {"from": sorted(run.begin), "workers": workers}
    learns |= {"notes": train.notes.sha256} if recipe.notes_share else {}
    return learns | recipe.model_dump(mode="json", exclude={"epochs", "compile", "checkpointing"})


def hold_to(terms: dict[str, Any], folder: Keeper, *, begun: bool) -> None:
    """Keep the terms of a run that begins in this folder; refuse to go on with another's."""
    if not begun:
        folder.write(FILE, json.dumps(terms).encode())
        return
    kept = json.loads(folder.read(FILE) or "{}")
    for name, began in kept.items():
        if began != terms.get(name):
            raise UserError(
                f"the run began with {name} {began!r} and cannot go on with {terms.get(name)!r}",
                "give what it began with, or begin another run in another folder",
            )
