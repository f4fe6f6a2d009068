"""Lists of reports: the pairs of a view that count as errors, a page at a time, with what was found in them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum

import duckdb
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from excam.store.queries.judges import JudgeUse, pick_judge
from excam.store.queries.view import View
from excam.store.queries.worst import WorstError


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


class ReportLine(BaseModel):
    """One report in a list."""

    model_config = ConfigDict(frozen=True)

    pair_id: str
    score: float | None
    p_error: float | None
    country: str | None
    language: str | None
    app: str | None
    model: str | None
    logged_at: datetime
    errors: list[WorstError]


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
    chosen = f"FROM lake.verdicts WHERE {where} AND {wrong}"
    count = connection.execute(f"SELECT count(*) {chosen}", values).fetchone()
    rows = connection.execute(
        f"""
        WITH listed AS (
            SELECT pair_key, pair_id, score, p_error, country, language, app, model, logged_at {chosen}
            ORDER BY {_ORDERS[order]} LIMIT {int(limit)} OFFSET {int(offset)}
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
    lines = [ReportLine.model_validate(row) for row in rows.to_pylist()]
    return Reports(judge=judge, total=int(count[0]) if count else 0, offset=offset, reports=lines)


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
