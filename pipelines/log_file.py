"""One log file as it stands: its row groups and a fingerprint, or why it is no Parquet."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import pyarrow.parquet as pq

from pipelines.files import UNREADABLE, plain
from pipelines.reach import LostError, Patience, reached

MOST_ROWS = 1 << 31  # of one row group: as many as there are numbers for its units


@dataclass(frozen=True)
class LogFile:
    """One log file as it stood when the run was planned; ``fingerprint`` changes when its content does."""

    uri: str
    fingerprint: str
    rows: tuple[int, ...]
    bytes_per_row: float


@dataclass(frozen=True)
class BrokenFile:
    """A file that is no readable Parquet: it becomes a dead letter, and the run goes on."""

    uri: str
    fingerprint: str
    reason: str


def inspect(uri: str, patience: Patience | None = None) -> LogFile | BrokenFile:
    """Read a file's footer: how many rows in which groups, and a fingerprint of size, time and footer.

    Where the file is out of reach it is waited for, and at last an :class:`OutOfReachError` says so.
    """
    patience = patience or Patience()
    patience.ask(uri)
    while True:
        try:
            file = _inspect(uri)
        except LostError as error:
            patience.wait(uri, error)
        else:
            patience.reward()
            return file


def _inspect(uri: str) -> LogFile | BrokenFile:
    with reached(uri) as stream:
        stamp = f"{stream.info.size}:{stream.info.mtime_ns}"
        try:
            file = pq.ParquetFile(stream)
            metadata, _ = file.metadata, file.schema_arrow.names
            stream.seek(max(0, stream.info.size - metadata.serialized_size - 8))
            footer = stream.read(metadata.serialized_size + 8).to_pybytes()
            groups = [metadata.row_group(index) for index in range(metadata.num_row_groups)]
            if any(not 0 <= group.num_rows <= MOST_ROWS for group in groups):
                raise OSError(f"a row group says it has {max(group.num_rows for group in groups):,} rows")
        except UNREADABLE as error:
            if stream.lost:
                raise
            return BrokenFile(uri, hashlib.sha256(stamp.encode()).hexdigest()[:16], plain(error))
    fingerprint = hashlib.sha256(stamp.encode() + footer).hexdigest()[:16]
    size = sum(group.total_byte_size for group in groups)
    return LogFile(uri, fingerprint, tuple(group.num_rows for group in groups), size / max(1, metadata.num_rows))
