"""Lists of reports: the pairs of a view that count as errors, a page at a time, with what was found in them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

import duckdb
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from excam.store.queries.judges import JudgeUse, pick_judge
from excam.store.queries.slice import Slice
from excam.store.queries.view import View


class Order(StrEnum):
    """Gravest first, latest first, or those first that the judge is surest of."""

    WORST = "worst"
    NEWEST = "newest"
    SUREST = "surest"


_ORDERS = {
    Order.WORST: "score, p_error DESC NULLS LAST, logged_at DESC, pair_id",
    Order.NEWEST: "logged_at DESC, pair_id",
    Order.SUREST: "p_error DESC NULLS LAST, score, logged_at DESC, pair_id",
}


class ReportError(BaseModel):
    """One error of a listed report."""

    model_config = ConfigDict(frozen=True)

    severity: str
    type: str
    category: str | None
    location: str
    span: str
    explanation: str


class ReportLine(BaseModel):
    """One report in a list; ``score`` is the paper's, so -11 is two major errors and a minor one."""

    model_config = ConfigDict(frozen=True)

    pair_id: str
    score: float | None
    p_error: float | None
    country: str | None
    language: str | None
    app: str | None
    model: str | None
    logged_at: datetime
    errors: list[ReportError]


class Reports(BaseModel):
    """A page of a list; ``total`` counts all of it."""

    model_config = ConfigDict(frozen=True)

    judge: JudgeUse
    total: int
    offset: int
    reports: list[ReportLine]


def list_reports(
    connection: duckdb.DuckDBPyConnection,
    view: View,
    order: Order = Order.WORST,
    limit: int = 25,
    offset: int = 0,
) -> Reports:
    """The reports of a view from ``offset`` on."""
    judge = pick_judge(connection, view.judge)
    where, wrong, values = view.where(judge.judge_version)
    count = connection.execute(f"SELECT count(*) FROM lake.verdicts WHERE {where} AND {wrong}", values).fetchone()
    lines = _lines(connection, f"{where} AND {wrong}", values, order, limit, offset)
    return Reports(judge=judge, total=int(count[0]) if count else 0, offset=offset, reports=lines)


def worst_pairs(
    connection: duckdb.DuckDBPyConnection, judge_version: str, part: Slice | None = None, limit: int = 10
) -> list[ReportLine]:
    """The pairs with the lowest scores; among equals those the judge is surest of, then the latest."""
    where, wrong, values = View(part or Slice()).where(judge_version)
    return _lines(connection, f"{where} AND {wrong}", values, Order.WORST, limit, 0)


def _lines(
    connection: duckdb.DuckDBPyConnection, where: str, values: dict[str, Any], order: Order, limit: int, offset: int
) -> list[ReportLine]:
    rows = connection.execute(
        f"""
        WITH listed AS (
            SELECT pair_key, pair_id, score, p_error, country, language, app, model, logged_at
            FROM lake.verdicts WHERE {where} ORDER BY {_ORDERS[order]} LIMIT {int(limit)} OFFSET {int(offset)}
        ),
        found AS (
            SELECT pair_id, list(struct_pack(severity, type, category, location, span, explanation) ORDER BY ordinal)
                   AS errors
            FROM lake.errors WHERE judge_version = $judge AND pair_key IN (SELECT pair_key FROM listed) GROUP BY pair_id
        )
        SELECT listed.* EXCLUDE (pair_key, logged_at), epoch_us(listed.logged_at) / 1e6 AS logged_at,
               coalesce(errors, []) AS errors
        FROM listed LEFT JOIN found USING (pair_id) ORDER BY {_ORDERS[order].replace("logged_at", "listed.logged_at")}
        """,
        values,
    ).to_arrow_table()
    return [ReportLine.model_validate(row) for row in rows.to_pylist()]


def export_reports(connection: duckdb.DuckDBPyConnection, view: View, limit: int) -> pa.Table:
    """The reports of a view with their texts, one row an error, for a spreadsheet or a notebook."""
    judge = pick_judge(connection, view.judge)
    where, wrong, values = view.where(judge.judge_version)
    return connection.execute(
        f"""
        WITH listed AS (
            SELECT pair_key, text_key, text_check, pair_id, judge_version, score, p_error, country, language, app,
                   model, logged_at FROM lake.verdicts WHERE {where} AND {wrong}
            ORDER BY {_ORDERS[Order.NEWEST]} LIMIT {int(limit)}
        )
        SELECT listed.* EXCLUDE (pair_key, text_key, text_check), errors.ordinal, errors.severity, errors.type,
               errors.category, errors.location, errors.span, errors."start", errors."end", errors.explanation,
               texts.instruction, texts.output
        FROM listed
        LEFT JOIN (SELECT * FROM lake.errors WHERE {where}) AS errors
               ON errors.pair_key = listed.pair_key AND errors.pair_id = listed.pair_id
        LEFT JOIN lake.texts AS texts ON texts.text_key = listed.text_key AND texts.text_check = listed.text_check
        ORDER BY listed.logged_at DESC, listed.pair_id, errors.ordinal
        """,
        values,
    ).to_arrow_table()
