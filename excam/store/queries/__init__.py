"""Questions to a store, as functions of a connection: ``store.query(trends, …)``. They read, they never write."""

from __future__ import annotations

from excam.store.queries.describe import Description, describe
from excam.store.queries.judges import JudgeUse, list_judges, pick_judge
from excam.store.queries.reports import ReportError, ReportLine, worst_pairs
from excam.store.queries.show import ShownError, ShownPair, ShownVerdict, show_pair
from excam.store.queries.slice import Slice
from excam.store.queries.trends import Bucket, By, Trend, TrendRow, trends

__all__ = [
    "Bucket",
    "By",
    "Description",
    "JudgeUse",
    "ReportError",
    "ReportLine",
    "ShownError",
    "ShownPair",
    "ShownVerdict",
    "Slice",
    "Trend",
    "TrendRow",
    "describe",
    "list_judges",
    "pick_judge",
    "show_pair",
    "trends",
    "worst_pairs",
]
