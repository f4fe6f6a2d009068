"""The pages. Each asks the API's own functions, so that what is shown is what the API answers, and fills a template."""

from __future__ import annotations

import logging
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Query, Request
from fastapi.templating import Jinja2Templates
from starlette.responses import Response

from excam.fault import UserError
from excam.store.queries.compare import Comparison, Side, choices
from excam.store.queries.judges import judge_names
from excam.store.queries.overview import FEWEST
from excam.store.queries.reports import Order
from excam.taxonomy import Category
from serve.dashboard import wording
from serve.dashboard.api import alerts, export, rates, reports, reviews
from serve.dashboard.chart import CLASS_NAMES, line_chart, world_map
from serve.dashboard.filters import Chosen, Filters
from serve.dashboard.place import root_of
from serve.dashboard.source import StoreSource, StoreUnreachableError
from serve.dashboard.state import Source
from serve.dashboard.world import outlines

log = logging.getLogger("excam.dashboard")

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(
    directory=Path(__file__).parent / "templates", context_processors=[lambda request: {"root": root_of(request)}]
)
templates.env.filters.update(wording.FILTERS)
templates.env.globals.update(is_sure=wording.is_sure, country=wording.country, label=wording.label)

TOP = 12
PAGE = 25
CERTAINTIES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99)


def render(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A template filled; Jinja escapes every value, because logged text may hold anything."""
    return templates.TemplateResponse(request, template, {"filters": None, "judge": None, **values}, status)


def filter_bar(source: StoreSource, filters: Filters) -> dict[str, Any]:
    """The filters in force and what their form offers."""
    names = source.remember(judge_names)
    offered = {
        "choices": source.remember(choices, filters.judge),
        "judges": list(names),
        "named": lambda version: f"{names[version]} ({version})" if version in names else version,
        "certainties": CERTAINTIES,
        "at_least": lambda share: f"{wording.percent(share)} or more",
        "categories": [category.value for category in Category],
        "language": wording.language,
    }
    return {"filters": filters, "offered": offered}


def warm(source: StoreSource) -> None:
    """Get ready what the first reader would else wait for: the store, the usual view, the names, the map, the page."""
    outlines()
    templates.env.get_template("overview.html")
    filters = Filters()
    try:
        rates.get_summary(source, filters)
        rates.get_types(source, filters)
        reviews.get_agreement(source, filters)
        alerts.get_alerts(source)
        filter_bar(source, filters)
    except (StoreUnreachableError, UserError) as error:
        log.info("nothing to get ready yet: %s", error)


@router.get("/")
def overview(request: Request, source: Source, filters: Chosen) -> Response:
    summary = rates.get_summary(source, filters)
    values: dict[str, Any] = {"page": "/", "summary": summary, "judge": summary.judge, **filter_bar(source, filters)}
    values["alerts"] = alerts.get_alerts(source)
    if summary.rate.n:
        found = rates.get_countries(source, filters)
        trend = rates.get_trends(source, filters)
        moved = [row for row in found.countries if row.change and row.country]
        moved.sort(key=lambda row: -abs(row.change.difference) if row.change else 0.0)
        values |= {
            "series": trend,
            "chart": line_chart(trend.points, trend.bucket),
            "found": found,
            "areas": world_map(found),
            "class_names": CLASS_NAMES,
            "moved": moved[:TOP],
            "top": TOP,
            "kinds": rates.get_types(source, filters),
            "quick": quick_periods(summary.last_day),
            "agreement": reviews.get_agreement(source, filters),
        }
    return render(request, "overview.html", **values)


def quick_periods(last: date | None) -> list[tuple[str, date]]:
    """Periods that end with the last day of the data: a store may be read long after it was filled."""
    if last is None:
        return []
    spans = {"last 7 days": 7, "last 28 days": 28, "last 12 weeks": 84, "last year": 365}
    return [(name, last - timedelta(days=days - 1)) for name, days in spans.items()]


@router.get("/country")
def country(request: Request, source: Source, filters: Chosen) -> Response:
    if not filters.country:
        raise HTTPException(404, "no country is named")
    summary = rates.get_summary(source, filters)
    values: dict[str, Any] = {"summary": summary, "judge": summary.judge, **filter_bar(source, filters)}
    if summary.rate.n:
        trend = rates.get_trends(source, filters)
        worst = reports.get_listed(request, source, filters, limit=10)
        values |= {
            "fewest": FEWEST,
            "series": trend,
            "chart": line_chart(trend.points, trend.bucket),
            "kinds": rates.get_types(source, filters),
            "models": _models(source, filters),
            "worst": worst,
        }
    return render(request, "country.html", **values)


def _models(source: StoreSource, filters: Filters, most: int = 4) -> list[Comparison]:
    """The model with the most answers about this country against each of the next ones."""
    apart = replace(filters, model=None)
    sizes: dict[str, int] = {}
    for point in rates.get_trends(source, apart, by="model").points:
        if point.group is not None:
            sizes[point.group] = sizes.get(point.group, 0) + point.rate.n
    names = sorted(sizes, key=lambda name: (-sizes[name], name))
    return [rates.get_compare(source, apart, names[0], name, Side.MODEL) for name in names[1:most]]


@router.get("/reports")
def report_list(
    request: Request,
    source: Source,
    filters: Chosen,
    order: Order = Order.WORST,
    offset: Annotated[int, Query(ge=0, le=reports.LAST_OFFSET)] = 0,
) -> Response:
    found = reports.get_listed(request, source, filters, order, PAGE, offset)
    return render(
        request,
        "reports.html",
        page="/reports",
        judge=found.judge,
        found=found,
        order=order.value,
        limit=PAGE,
        most=export.MOST,
        **filter_bar(source, filters),
    )
