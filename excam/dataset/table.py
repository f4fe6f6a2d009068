"""Reads the Parquet files that a user names: what is something else, or torn, is said with its fix."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from excam.fault import UserError


def read_columns(path: Path, names: Sequence[str], fix: str) -> pa.Table:
    """The columns ``names`` of the file, in that order, whatever else it holds."""
    try:
        with pq.ParquetFile(path) as file:
            absent = sorted(set(names) - set(file.schema_arrow.names))
            if absent:
                raise UserError(f"{path}: the columns {', '.join(absent)} are missing", fix)
            return file.read(list(names)).select(names)
    except (pa.ArrowException, OSError) as error:
        raise UserError(f"{path} cannot be read: {error}", fix) from error
