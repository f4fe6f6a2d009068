"""Metrics as Parquet: what the loop wrote line by line, as one table that any tool plots."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq


def metrics_table(lines: Path) -> pa.Table:
    """``metrics.jsonl`` as a table: a row a line, a column a figure; those of dev are called ``dev.NAME``."""
    rows = [_flat(json.loads(line)) for line in lines.read_text("utf-8").splitlines() if line.strip()]
    names = list(dict.fromkeys(name for row in rows for name in row))
    columns = {name: [row.get(name) for row in rows] for name in names}
    return pa.table({name: _column(values) for name, values in columns.items()})


def write_metrics(lines: Path, out: Path) -> int:
    """Write the table; returns its rows."""
    table = metrics_table(lines)
    pq.write_table(table, out)
    return int(table.num_rows)


def _flat(line: dict[str, Any]) -> dict[str, Any]:
    dev = line.pop("dev", {})
    return line | {f"dev.{name}": value for name, value in dev.items()}


def _column(values: list[Any]) -> pa.Array:
    whole = all(isinstance(value, int | None) for value in values)
    number = all(isinstance(value, int | float | None) for value in values)
    return pa.array(values, pa.int64() if whole else pa.float64() if number else pa.string())
