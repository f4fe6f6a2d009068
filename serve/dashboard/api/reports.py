"""``/api/reports``: lists of reports, and one of them with its texts and the place of every error."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request

from excam.store.queries.reports import Order, Reports, list_reports
from excam.store.queries.show import ShownPair, show_pair
from serve.dashboard.api.rates import seen
from serve.dashboard.filters import Chosen
from serve.dashboard.state import Source

router = APIRouter(prefix="/api/reports", tags=["reports"])

LAST_OFFSET = 100_000


@router.get("")
def get_listed(
    request: Request,
    source: Source,
    filters: Chosen,
    order: Order = Order.WORST,
    limit: Annotated[int, Query(ge=1, le=200)] = 25,
    offset: Annotated[int, Query(ge=0, le=LAST_OFFSET)] = 0,
) -> Reports:
    """Pairs with errors, a page at a time."""
    found: Reports = source.glance(list_reports, seen(source, filters), order, limit, offset)
    request.app.state.audit.note(request, "listed", [line.pair_id for line in found.reports])
    return found


@router.get("/{pair_id:path}")
def get_report(request: Request, source: Source, pair_id: str) -> ShownPair:
    """One pair with every judge's verdict on it, the latest first."""
    pair = source.ask(show_pair, pair_id)
    request.app.state.audit.note(request, "viewed", [pair.pair_id])
    return pair
