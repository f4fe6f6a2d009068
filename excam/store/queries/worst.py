"""The gravest reports: where to look first."""

from __future__ import annotations

from datetime import datetime

import duckdb
from pydantic import BaseModel, ConfigDict

from excam.store.queries.slice import Slice


class WorstError(BaseModel):
    """One error of a grave report."""

    model_config = ConfigDict(frozen=True)

    severity: str
    type: str
    category: str | None
    location: str
    span: str
    explanation: str


class WorstPair(BaseModel):
    """A pair with a grave report; ``score`` is the paper's, so -11 is two major errors and a minor one."""

    model_config = ConfigDict(frozen=True)

    pair_id: str
    score: float
    p_error: float | None
    country: str | None
    language: str | None
    app: str | None
    model: str | None
    logged_at: datetime
    errors: list[WorstError]


def worst_pairs(
    connection: duckdb.DuckDBPyConnection, judge_version: str, part: Slice | None = None, limit: int = 10
) -> list[WorstPair]:
    """The pairs with the lowest scores; among equals those the judge is surest of, then the latest."""
    where, values = (part or Slice()).where(judge_version)
    rows = connection.execute(
        f"""
        WITH worst AS (
            SELECT pair_key, pair_id, score, p_error, country, language, app, model, logged_at
            FROM lake.verdicts WHERE {where} AND status = 'error'
            ORDER BY score, p_error DESC NULLS LAST, logged_at DESC, pair_id LIMIT {int(limit)}
        ),
        found AS (
            SELECT pair_id, list(struct_pack(severity, type, category, location, span, explanation) ORDER BY ordinal)
                   AS errors
            FROM lake.errors WHERE judge_version = $judge AND pair_key IN (SELECT pair_key FROM worst) GROUP BY pair_id
        )
        SELECT worst.* EXCLUDE (pair_key, logged_at), epoch_us(logged_at) / 1e6 AS logged_at,
               coalesce(errors, []) AS errors
        FROM worst LEFT JOIN found USING (pair_id)
        ORDER BY score, p_error DESC NULLS LAST, worst.logged_at DESC, pair_id
        """,
        values,
    ).to_arrow_table()
    return [WorstPair.model_validate(row) for row in rows.to_pylist()]
