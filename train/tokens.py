"""Tokens made once: a split's Parquet file becomes a file of tokens that later runs find by what it was made from."""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

from excam.fault import UserError
from excam.models import BaseModel
from excam.models.digest import file_sha256
from excam.prompt import PROMPT_SHA256
from train.examples import ARRAYS, NOTES, Examples
from train.recipe import Recipe
from train.tokenise import tokenise

MAX_PROMPT_TOKENS, MAX_REPORT_TOKENS = 2048, 256


def tokens(split: Path, base: BaseModel, recipe: Recipe, folder: Path, *, workers: int = 0) -> Examples:
    """The split's examples for this base, encoded now if no file in the folder has them.

    Two twins share a batch, so a prompt may take at most half of one, less its report.
    """
    if not split.is_file():
        raise UserError(f"there is no {split}", "give the folder that `excam dataset build --out` wrote")
    prompt = min(MAX_PROMPT_TOKENS, recipe.batch_tokens // 2 - MAX_REPORT_TOKENS)
    if prompt < MAX_REPORT_TOKENS:
        raise UserError(
            f"batches of {recipe.batch_tokens} tokens are too small for two twins", "set batch_tokens to 1024 or more"
        )
    made_from = [file_sha256(split), base.sha256, PROMPT_SHA256, prompt, MAX_REPORT_TOKENS, ARRAYS, NOTES]
    key = hashlib.sha256(json.dumps(made_from).encode()).hexdigest()[:16]
    path = folder / f"{split.stem}-{key}.npz"
    if path.is_file():
        return Examples.load(path)
    folder.mkdir(parents=True, exist_ok=True)
    found = tokenise(
        split,
        base.path,
        max_prompt_tokens=prompt,
        max_report_tokens=MAX_REPORT_TOKENS,
        workers=workers or max(1, (os.cpu_count() or 2) // 2),
    )
    draft = path.with_name(f".{path.name}")
    found.save(draft)
    draft.rename(path)
    return found
