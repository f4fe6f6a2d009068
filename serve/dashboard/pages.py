"""The pages. Each asks the API's own functions, so that what is shown is what the API answers, and fills a template."""

from __future__ import annotations

from datetime import date, timedelta
from pathlib import Path
from typing import Any

from fastapi import APIRouter, Request
from fastapi.templating import Jinja2Templates
from starlette.responses import Response

from excam.store.queries.compare import choices
from excam.taxonomy import Category
from serve.dashboard import wording
from serve.dashboard.api import rates
from serve.dashboard.api.records import get_judges
from serve.dashboard.chart import CLASS_NAMES, line_chart, world_map
from serve.dashboard.filters import Chosen, Filters
from serve.dashboard.source import StoreSource
from serve.dashboard.state import Source

router = APIRouter(include_in_schema=False)
templates = Jinja2Templates(directory=Path(__file__).parent / "templates")
templates.env.filters.update(wording.FILTERS)
templates.env.globals.update(is_sure=wording.is_sure, country=wording.country, label=wording.label)

TOP = 12


def render(request: Request, template: str, status: int = 200, **values: Any) -> Response:
    """A template filled; Jinja escapes every value, because logged text may hold anything."""
    return templates.TemplateResponse(request, template, {"filters": None, "judge": None, **values}, status)


def filter_bar(source: StoreSource, filters: Filters) -> dict[str, Any]:
    """What the form of filters offers."""
    return {
        "filters": filters,
        "choices": source.ask(choices, filters.judge),
        "judges": [use.judge_version for use in get_judges(source)],
        "categories": [category.value for category in Category],
    }


@router.get("/")
def overview(request: Request, source: Source, filters: Chosen) -> Response:
    summary = rates.get_summary(source, filters)
    values: dict[str, Any] = {"page": "/", "summary": summary, "judge": summary.judge, **filter_bar(source, filters)}
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
            "kinds": rates.get_types(source, filters),
            "quick": quick_periods(summary.last_day),
        }
    return render(request, "overview.html", **values)


def quick_periods(last: date | None) -> list[tuple[str, date]]:
    """Periods that end with the last day of the data: a store may be read long after it was filled."""
    if last is None:
        return []
    spans = {"last 7 days": 7, "last 28 days": 28, "last 12 weeks": 84, "last year": 365}
    return [(name, last - timedelta(days=days - 1)) for name, days in spans.items()]
