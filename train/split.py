"""A split of the dataset as rows, looked through once: what cannot be trained on is told by file, sample and field."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from excam.dataset.table import read_columns
from excam.fault import UserError
from train.examples import LABELS

TEXTS = ("sample_id", "source", "group", "instruction", "output", "report", "origin")
COLUMNS = (*TEXTS, "label", "weight", "twin_id")
AGAIN = "build it anew with `excam dataset build`"


def read_rows(split: Path) -> list[Mapping[str, Any]]:
    """The rows of a split's Parquet file; a fault where there is none, or one that is no sample."""
    if not split.is_file():
        raise UserError(f"there is no {split}", "give the folder that `excam dataset build --out` wrote")
    rows: list[Mapping[str, Any]] = read_columns(split, COLUMNS, AGAIN).to_pylist()
    if not rows:
        raise UserError(f"{split} holds no sample", AGAIN)
    for number, row in enumerate(rows):
        if wrong := _wrong(row):
            raise UserError(f"{split}, row {number} (sample {row['sample_id']}): {wrong}", AGAIN)
    return rows


def _wrong(row: Mapping[str, Any]) -> str | None:
    for name in TEXTS:
        if not isinstance(row[name], str):
            return f"{name} is {row[name]!r} and no text"
    if row["label"] not in LABELS:
        return f"label {row['label']!r} is none of {', '.join(LABELS)}"
    if not isinstance(row["weight"], int | float) or not 0 <= row["weight"] < math.inf:
        return f"weight {row['weight']} is no number from 0 on"
    return None
