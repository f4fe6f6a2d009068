"""What a query found, in portions that fit in memory however long its texts are."""

from __future__ import annotations

from collections.abc import Iterator

import pyarrow as pa

VECTOR = 2048  # rows that DuckDB hands over at once; asked for more, it holds them together, whatever their size
PORTION_BYTES = 32 << 20


def portions(reader: pa.RecordBatchReader, rows: int) -> Iterator[pa.Table]:
    """The rows of a reader in tables of some 32 MB and at most ``rows`` rows, the last one smaller."""
    held, count, size = list[pa.RecordBatch](), 0, 0
    for batch in (part for whole in reader for part in _parts(whole, rows)):
        if held and (size + batch.nbytes > PORTION_BYTES or count + len(batch) > rows):
            yield pa.Table.from_batches(held)
            held, count, size = [], 0, 0
        held.append(batch)
        count, size = count + len(batch), size + batch.nbytes
    if held:
        yield pa.Table.from_batches(held)


def _parts(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    return (batch.slice(first, rows) for first in range(0, len(batch), rows))
