"""``/api/export``: the reports of a view as CSV or Parquet, for a spreadsheet or a notebook."""

from __future__ import annotations

import codecs
import io
from collections.abc import Iterator
from typing import Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq
from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from excam.spreadsheet import FORMULA
from excam.store.queries.reports import export_reports
from serve.dashboard.filters import Chosen
from serve.dashboard.state import Source

router = APIRouter(prefix="/api", tags=["reports"])

MOST = 50_000
PORTION = 500  # rows of CSV made at once

_TYPES = {"csv": "text/csv; charset=utf-8", "parquet": "application/vnd.apache.parquet"}


@router.get("/export", response_class=Response)
def get_export(
    request: Request, source: Source, filters: Chosen, format: Literal["csv", "parquet"] = "csv"
) -> Response:
    """One row an error, the newest answers first. In CSV a text that a spreadsheet would run begins with a quote."""
    table = source.ask(export_reports, filters.view, MOST)
    request.app.state.audit.note(request, f"exported {format}", pc.unique(table["pair_id"]).to_pylist())
    headers = {"Content-Disposition": f'attachment; filename="excam-reports.{format}"'}
    body = _csv(table) if format == "csv" else _parquet(table)
    return StreamingResponse(body, media_type=_TYPES[format], headers=headers)


def _csv(table: pa.Table) -> Iterator[bytes]:
    """A portion at a time: the texts of fifty thousand answers fit into memory once, and not four times."""
    yield codecs.BOM_UTF8  # without it Excel reads every letter beyond ASCII as two or three others
    for start in range(0, max(1, table.num_rows), PORTION):
        body = io.BytesIO()
        how = pyarrow.csv.WriteOptions(include_header=start == 0)
        pyarrow.csv.write_csv(_inert(table.slice(start, PORTION)), body, how)
        yield body.getvalue()


def _parquet(table: pa.Table) -> Iterator[bytes]:
    body = io.BytesIO()
    pq.write_table(table, body, compression="zstd")
    yield body.getvalue()


def _inert(table: pa.Table) -> pa.Table:
    """Texts that begin like a formula get a quote before them: a spreadsheet must not run what a log holds."""
    for place, field in enumerate(table.schema):
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
            table = table.set_column(
                place, field.name, pc.replace_substring_regex(table[place], pattern=FORMULA, replacement=r"'\1")
            )
    return table
