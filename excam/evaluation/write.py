"""Everything a report consists of, written into one folder."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from excam.evaluation.figures import Summary
from excam.evaluation.judged import FACTS, Judged, Run
from excam.evaluation.markdown import render
from excam.evaluation.plots import draw

FIGURES = pa.schema(
    [
        ("measure", pa.string()),
        ("part", pa.string()),
        ("by", pa.string()),
        ("value", pa.string()),
        ("n", pa.int64()),
        ("figure", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
    ]
)
RELIABILITY = pa.schema(
    [
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("n", pa.int64()),
        ("claimed", pa.float64()),
        ("happened", pa.float64()),
    ]
)


def write_report(judged: Judged, summary: Summary, out: Path, *, plots: bool = True) -> Path:
    """``report.md``, its pictures, ``figures.parquet`` and ``reliability.parquet``; the path of the first."""
    out.mkdir(parents=True, exist_ok=True)
    _parquet([asdict(one) for one in summary.figures], FIGURES, judged.run, out / "figures.parquet")
    _parquet([asdict(one) for one in summary.bins], RELIABILITY, judged.run, out / "reliability.parquet")
    drawn = draw(summary, judged.run.judge, out) if plots else []
    path = out / "report.md"
    path.write_text(render(summary, judged.run, drawn), "utf-8")
    return path


def _parquet(rows: list[dict[str, object]], schema: pa.Schema, run: Run, path: Path) -> None:
    table = pa.Table.from_pylist(rows, schema=schema)
    pq.write_table(table.replace_schema_metadata({FACTS: run.model_dump_json().encode()}), path, compression="zstd")
