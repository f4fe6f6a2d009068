"""Writes a split in two passes with memory that does not grow: samples first, then again with their weights."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from excam.dataset.sample import SCHEMA, Sample, to_table
from excam.dataset.weights import sample_weights
from excam.report import Status

ROWS = 4096


class Tally:
    """The counts of a build by split and column, for the data card and build.json."""

    COLUMNS = ("source", "task", "label", "severity", "origin", "language", "country")

    def __init__(self) -> None:
        self.counts: Counter[tuple[str, ...]] = Counter()
        self.weights: dict[tuple[str, str, str], float] = {}
        self.used: dict[str, set[str]] = defaultdict(set)

    def add(self, split: str, sample: Sample) -> None:
        self.used[sample.source].add(sample.item_id)
        self.counts[split, *(str(getattr(sample, column) or "–") for column in self.COLUMNS)] += 1

    def by(self, *columns: str, **where: str) -> Counter[tuple[str, ...]]:
        """Counts by the named columns (``split`` among them) over the rows where the others have the given values."""
        names = ("split", *self.COLUMNS)
        places = [names.index(column) for column in columns]
        found: Counter[tuple[str, ...]] = Counter()
        for row, count in self.counts.items():
            if all(row[names.index(column)] == value for column, value in where.items()):
                found[tuple(row[place] for place in places)] += count
        return found


def write_split(path: Path, samples: Iterable[Sample], split: str, tally: Tally) -> None:
    """Write ``samples`` to ``path`` with the weights their counts call for."""
    draft = path.with_suffix(".draft")
    counts: Counter[tuple[str, bool]] = Counter()
    with pq.ParquetWriter(draft, SCHEMA, compression="zstd") as writer:
        rows = _counted(samples, split, tally, counts)
        while batch := list(islice(rows, ROWS)):
            writer.write_table(to_table(batch))
    weights = sample_weights(counts)
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        for table in _batches(draft):
            keys = zip(table["source"].to_pylist(), table["label"].to_pylist(), strict=True)
            column = [weights[source, label != Status.NOT_APPLICABLE] for source, label in keys]
            place = SCHEMA.get_field_index("weight")
            writer.write_table(table.set_column(place, SCHEMA.field("weight"), pa.array(column, pa.float64())))
    for (source, cultural), weight in weights.items():
        tally.weights[split, source, "cultural" if cultural else "ordinary"] = weight
    draft.unlink()


def _counted(
    samples: Iterable[Sample], split: str, tally: Tally, counts: Counter[tuple[str, bool]]
) -> Iterator[Sample]:
    seen: set[str] = set()
    for sample in samples:
        if sample.sample_id in seen:
            continue
        seen.add(sample.sample_id)
        tally.add(split, sample)
        counts[sample.source, sample.label != Status.NOT_APPLICABLE] += 1
        yield sample


def _batches(path: Path) -> Iterator[pa.Table]:
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(ROWS):
            yield pa.Table.from_batches([batch], schema=SCHEMA)


def sha256(path: Path) -> str:
    """The fingerprint of a file, by which two builds are compared."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
