"""``python -m train.tokenise``: a Parquet file of the dataset becomes a file of tokens for one base model."""

from __future__ import annotations

import argparse
import hashlib
import sys
from collections.abc import Mapping
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from excam.dataset.atlas import FACTS, TITLES
from excam.dataset.atlas.notes import atlas_notes
from excam.fault import UserError
from train.examples import Encoder, Examples, assemble
from train.split import read_rows


@cache
def _encoder(model: Path, max_prompt_tokens: int, max_report_tokens: int) -> Encoder:
    from excam.models import load_tokenizer

    return Encoder(load_tokenizer(model), max_prompt_tokens, max_report_tokens)


def _encode(task: tuple[Mapping[str, Any], Path, int, int]) -> tuple[list[int], list[int]]:
    row, *settings = task
    return _encoder(*settings)(row)


def tokenise(
    parquet: Path, model: Path, *, max_prompt_tokens: int = 2048, max_report_tokens: int = 256, workers: int = 1
) -> Examples:
    """Encode a split of the dataset, in several processes where there are rows enough to pay for them.

    What the split holds of the atlas lies beside it as notes.
    """
    rows = read_rows(parquet)
    settings = (model, max_prompt_tokens, max_report_tokens)
    with parquet.open("rb") as file:
        dataset = hashlib.file_digest(file, "sha256").hexdigest()
    tasks = [(row, *settings) for row in rows]
    from_atlas = {row["group"] for row in rows if row["source"] in TITLES}
    notes = list(atlas_notes(FACTS, from_atlas)) if from_atlas else []
    if workers == 1:
        return assemble(rows, map(_encode, tasks), _encoder(*settings), dataset, notes)
    with ProcessPoolExecutor(workers, get_context("spawn")) as pool:
        return assemble(rows, pool.map(_encode, tasks, chunksize=256), _encoder(*settings), dataset, notes)


def main() -> None:
    """Read, encode, write, and say how large it became."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("parquet", type=Path)
    options.add_argument("out", type=Path)
    options.add_argument("--model", type=Path, required=True, help="folder with the base model's tokenizer")
    options.add_argument("--max-prompt-tokens", type=int, default=2048)
    options.add_argument("--max-report-tokens", type=int, default=256)
    options.add_argument("--workers", type=int, default=1)
    asked = options.parse_args()
    try:
        examples = tokenise(
            asked.parquet,
            asked.model,
            max_prompt_tokens=asked.max_prompt_tokens,
            max_report_tokens=asked.max_report_tokens,
            workers=asked.workers,
        )
    except UserError as fault:
        sys.exit(str(fault))
    examples.save(asked.out)
    print(f"{len(examples)} examples, {len(examples.ids)} tokens, {examples.prompt.sum()} of them prompts", flush=True)
    print(f"{len(examples.notes)} notes, {len(examples.notes.ids)} tokens", flush=True)


if __name__ == "__main__":
    main()
