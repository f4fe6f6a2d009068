"""``/api/summary``, ``/api/trends``, ``/api/countries``, ``/api/types`` and ``/api/compare``: rates of a view."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Query

from excam.store.queries.compare import Comparison, Side, compare
from excam.store.queries.judges import JudgeUse, pick_judge
from excam.store.queries.overview import FEWEST, Countries, Kinds, Series, Summary, kinds, overview, series
from excam.store.queries.trends import Bucket
from excam.store.queries.view import View
from serve.dashboard.filters import Chosen, Filters
from serve.dashboard.source import StoreSource
from serve.dashboard.state import Source

router = APIRouter(prefix="/api", tags=["rates"])

Fewest = Annotated[int, Query(ge=1, le=1_000_000, description="pairs below which no rate is compared")]


def judge_of(source: StoreSource, filters: Filters) -> JudgeUse:
    """The judge of a view: the one chosen, else the one used last."""
    return source.glance(pick_judge, filters.judge)


def seen(source: StoreSource, filters: Filters) -> View:
    """The view with its judge looked up, which every question about it would else do again."""
    return replace(filters.view, judge=judge_of(source, filters))


@router.get("/summary")
def get_summary(source: Source, filters: Chosen) -> Summary:
    """The error rate of the view with its interval, and what was judged, left out and lost."""
    return source.glance(overview, seen(source, filters), FEWEST).summary


@router.get("/trends")
def get_trends(
    source: Source,
    filters: Chosen,
    bucket: Bucket | None = None,
    by: Literal["all", "country", "language", "app", "model"] = "all",
) -> Series:
    """The error rate over time, in days, weeks or months."""
    view = seen(source, filters)
    if bucket is None and by == "all":
        return source.glance(overview, view, FEWEST).series
    return source.glance(series, view, bucket, by)


@router.get("/countries")
def get_countries(source: Source, filters: Chosen, fewest: Fewest = FEWEST) -> Countries:
    """Every country's rate, and its change from the earlier to the later half of the period."""
    return source.glance(overview, seen(source, filters), fewest).countries


@router.get("/types")
def get_types(source: Source, filters: Chosen) -> Kinds:
    """Pairs with errors by type and by severity."""
    return source.glance(kinds, seen(source, filters))


@router.get("/compare")
def get_compare(
    source: Source,
    filters: Chosen,
    a: Annotated[str, Query(max_length=300)],
    b: Annotated[str, Query(max_length=300)],
    side: Side = Side.MODEL,
    fewest: Fewest = FEWEST,
) -> Comparison:
    """Two models, apps or judges on the same days: B less A, overall and by country."""
    return source.glance(compare, seen(source, filters), side, a, b, fewest)
