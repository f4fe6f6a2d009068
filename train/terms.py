"""What must stay the same for a run to go on, kept beside its checkpoints and looked at before anything starts."""

from __future__ import annotations

import json
from typing import Any

from excam.fault import UserError
from train.examples import Examples
from train.loop import Run
from train.recipe import Recipe
from train.storage import Folder

FILE = "terms.json"


def terms_of(recipe: Recipe, run: Run, train: Examples, base_sha256: str, workers: int) -> dict[str, Any]:
    """What a run cannot change on its way; how long it goes on, and how it is computed, it can.

    The number of workers is among it: how many batches a step takes decides how far a number of steps has come.
    """
    learns = {"base": base_sha256, "dataset": train.dataset, "without": sorted(run.without), "share": run.share}
    learns |= {"from": sorted(run.begin), "workers": workers}
    return learns | recipe.model_dump(mode="json", exclude={"epochs", "compile", "checkpointing"})


def hold_to(terms: dict[str, Any], folder: Folder, *, begun: bool) -> None:
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
