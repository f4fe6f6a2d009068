"""How an error rate moves: by country, language, model, app, error type or severity, in days, weeks or months."""

from __future__ import annotations

from datetime import date, timedelta
from enum import StrEnum
from itertools import pairwise
from typing import Any

import duckdb
from pydantic import BaseModel, ConfigDict

from excam.stats import effective_size, holm, rate_difference_test, weighted_wilson
from excam.store.queries.judges import JudgeUse, pick_judge
from excam.store.queries.slice import Slice


class By(StrEnum):
    """What a trend is split by; ``all`` does not split it."""

    COUNTRY = "country"
    LANGUAGE = "language"
    MODEL = "model"
    APP = "app"
    TYPE = "type"
    SEVERITY = "severity"
    ALL = "all"


class Bucket(StrEnum):
    """How time is cut; weeks begin on Monday, days are UTC."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"


class TrendRow(BaseModel):
    """One rate: of the ``n`` pairs that were judged and are about culture, the share with an error.

    With sampled traffic every pair counts for as many as it stands for, and ``n_effective`` says how many equally
    weighted pairs the interval rests on. ``change`` and its p-value compare with the bucket just before, and are None
    where that one is empty; ``p_adjusted`` (Holm) allows for all the comparisons of this trend.
    """

    model_config = ConfigDict(frozen=True)

    bucket: date
    group: str | None
    n: int
    errors: int
    n_effective: float
    rate: float
    low: float
    high: float
    change: float | None = None
    p_value: float | None = None
    p_adjusted: float | None = None


class Trend(BaseModel):
    """The rows of a trend: the largest group first, oldest bucket first within it."""

    model_config = ConfigDict(frozen=True)

    judge: JudgeUse
    by: By
    bucket: Bucket
    rows: list[TrendRow]


def trends(
    connection: duckdb.DuckDBPyConnection,
    by: By | str = By.COUNTRY,
    bucket: Bucket | str = Bucket.WEEK,
    part: Slice | None = None,
    judge: str | None = None,
) -> Trend:
    """Error rates over time. Pairs that are not about culture are in no denominator.

    By type or severity the rate is the share of pairs with at least one such error, so the groups may overlap.
    """
    by, bucket = By(by), Bucket(bucket)
    used = pick_judge(connection, judge)
    where, values = (part or Slice()).where(used.judge_version)
    column = {By.TYPE: "category", By.SEVERITY: "severity"}.get(by)
    query = _by_error(column, where) if column else _by_verdict("NULL::VARCHAR" if by is By.ALL else by.value, where)
    found = connection.execute(_IN_BUCKETS.format(counted=query, bucket=bucket.value), values).to_arrow_table()
    groups: dict[str | None, list[dict[str, Any]]] = {}
    for row in found.to_pylist():
        groups.setdefault(row["group"], []).append(_with_rate(row))
    rows: list[dict[str, Any]] = []
    size = "errors" if column else "n"
    for name in sorted(groups, key=lambda name: (-sum(row[size] for row in groups[name]), name or "")):
        _add_changes(groups[name], bucket)
        rows += groups[name]
    _adjust(rows)
    return Trend(judge=used, by=by, bucket=bucket, rows=[TrendRow.model_validate(row) for row in rows])


# Days are counted first and gathered into buckets afterwards: ten million rows meet only short keys.
_IN_BUCKETS = """
    WITH {counted}
    SELECT date_trunc('{bucket}', logged_on)::DATE AS bucket, "group", sum(n)::BIGINT AS n,
           coalesce(sum(n) FILTER (wrong), 0)::BIGINT AS errors, sum(n / share) AS weight,
           sum(n / (share * share)) AS squared_weight, coalesce(sum(n / share) FILTER (wrong), 0.0) AS error_weight
    FROM daily GROUP BY ALL ORDER BY bucket
"""
_SHARE = "CASE WHEN sample_share > 0 THEN sample_share ELSE 1 END AS share"


def _by_verdict(column: str, where: str) -> str:
    return f"""daily AS (
        SELECT {column} AS "group", logged_on, status = 'error' AS wrong, {_SHARE}, count(*) AS n
        FROM lake.verdicts WHERE {where} AND status <> 'not_applicable' GROUP BY ALL)"""


def _by_error(column: str, where: str) -> str:
    """Every group is measured against all pairs of the day: those that hold such an error, and those that do not."""
    return f"""totals AS (
        SELECT logged_on, {_SHARE}, count(*) AS n
        FROM lake.verdicts WHERE {where} AND status <> 'not_applicable' GROUP BY ALL
    ), hits AS (
        SELECT {column} AS "group", logged_on, {_SHARE}, count(DISTINCT pair_key) AS n
        FROM lake.errors WHERE {where} GROUP BY ALL
    ), daily AS (
        SELECT "group", logged_on, true AS wrong, share, n FROM hits
        UNION ALL
        SELECT named."group", totals.logged_on, false, totals.share, totals.n - coalesce(hits.n, 0)
        FROM totals CROSS JOIN (SELECT DISTINCT "group" FROM hits) AS named
        LEFT JOIN hits ON hits."group" IS NOT DISTINCT FROM named."group" AND hits.logged_on = totals.logged_on
                          AND hits.share = totals.share)"""


def _with_rate(row: dict[str, Any]) -> dict[str, Any]:
    errors, weight, squared_weight = (row.pop(name) for name in ("error_weight", "weight", "squared_weight"))
    low, high = weighted_wilson(errors, weight, squared_weight)
    sure = {"n_effective": effective_size(weight, squared_weight), "low": low, "high": high}
    return row | sure | {"rate": min(1.0, errors / weight)}


def _add_changes(rows: list[dict[str, Any]], bucket: Bucket) -> None:
    for before, after in pairwise(rows):
        if _next(before["bucket"], bucket) == after["bucket"]:
            n1, n2 = before["n_effective"], after["n_effective"]
            after["change"] = after["rate"] - before["rate"]
            after["p_value"] = rate_difference_test(before["rate"] * n1, n1, after["rate"] * n2, n2)


def _next(start: date, bucket: Bucket) -> date:
    if bucket is Bucket.MONTH:
        return (start.replace(day=1) + timedelta(days=32)).replace(day=1)
    return start + timedelta(days=1 if bucket is Bucket.DAY else 7)


def _adjust(rows: list[dict[str, Any]]) -> None:
    compared = [row for row in rows if "p_value" in row]
    for row, p_value in zip(compared, holm([row["p_value"] for row in compared]), strict=True):
        row["p_adjusted"] = p_value
