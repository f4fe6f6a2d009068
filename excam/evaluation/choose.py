"""Which samples of a split are judged: all, or a bounded number a source with twins kept together."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from excam.dataset.draw import fingerprint
from excam.dataset.sample import SCHEMA
from excam.fault import UserError


def read_split(folder: Path, split: str) -> pa.Table:
    """The split of a build; the columns say at once when the file is something else."""
    path = folder / f"{split}.parquet"
    if not path.is_file():
        raise UserError(f"there is no {path}", "name the folder that `excam dataset build --out` wrote with --data")
    try:
        return pq.read_table(path).select(SCHEMA.names).cast(SCHEMA)
    except (KeyError, pa.ArrowException) as problem:
        raise UserError(
            f"{path} is no split of ExCAM40k: {problem}", "build it anew with `excam dataset build`"
        ) from None


def choose(table: pa.Table, limit: int | None = None, source: str | None = None) -> pa.Table:
    """The samples of ``source`` only, or of all; at most ``limit`` of each source, always the same ones.

    Whole twins are drawn, right and wrong together, so that both classes stay alike and every error has its answer.
    """
    sources = table["source"].to_pylist()
    if source is not None and source not in sources:
        there = ", ".join(sorted(set(sources)))
        raise UserError(f"this split has no sample of the source {source!r}", f"it has {there}")
    units: dict[tuple[str, str], list[int]] = {}
    for row, (name, sample, twin) in enumerate(
        zip(sources, table["sample_id"].to_pylist(), table["twin_id"].to_pylist(), strict=True)
    ):
        if source in (None, name):
            units.setdefault((name, twin or sample), []).append(row)
    taken: dict[str, list[int]] = {}
    for (name, _), rows in sorted(units.items(), key=lambda unit: fingerprint(*unit[0])):
        kept = taken.setdefault(name, [])
        if limit is None or len(kept) + len(rows) <= limit:
            kept += rows
    if not any(taken.values()):
        raise UserError("there is no sample to judge in this split", "build a larger one, or give a larger --limit")
    return table.take(sorted(row for rows in taken.values() for row in rows))
