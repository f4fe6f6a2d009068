"""``/api/reports``: lists of reports, and one of them with its texts and the place of every error."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query

from excam.store.queries.reports import Order, Reports, list_reports
from excam.store.queries.show import ShownPair, show_pair
from serve.dashboard.filters import Chosen
from serve.dashboard.state import Source

router = APIRouter(prefix="/api/reports", tags=["reports"])

LAST_OFFSET = 100_000


@router.get("")
def get_reports(
    source: Source,
    filters: Chosen,
    order: Order = Order.WORST,
    limit: Annotated[int, Query(ge=1, le=200)] = 25,
    offset: Annotated[int, Query(ge=0, le=LAST_OFFSET)] = 0,
) -> Reports:
    """Pairs with errors, a page at a time."""
    return source.ask(list_reports, filters.view, order, limit, offset)


@router.get("/{pair_id:path}")
def get_report(source: Source, pair_id: str) -> ShownPair:
    """One pair with every judge's verdict on it, the latest first."""
    return source.ask(show_pair, pair_id)
