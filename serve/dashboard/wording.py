"""How figures are said on the pages: with units, in plain words, the same everywhere."""

from __future__ import annotations

import json
from datetime import datetime

from excam.country import country_name
from excam.store.queries.rates import Change, Rate
from excam.store.reviews import Agreement

SURE = 0.05

LABELS = {
    "norms_and_values": "norms and values",
    "figures": "figures and dates",
    "language": "language and terms",
    "not_applicable": "not about culture",
    "error": "error found",
    "correct": "no error found",
    "not_found": "words not found in the text",
}


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f} %"


def interval(rate: Rate | Agreement) -> str:
    return f"{rate.low * 100:.1f} to {rate.high * 100:.1f} %"


def number(count: float | None) -> str:
    return "–" if count is None else f"{count:,.0f}"


def points(change: Change) -> str:
    return f"{round(change.difference * 100, 1) + 0.0:+.1f} points"


def points_between(change: Change) -> str:
    return f"{change.low * 100:+.1f} to {change.high * 100:+.1f}"


def chance(p_value: float) -> str:
    return "below 0.001" if p_value < 0.001 else f"{p_value:.3f}"


def is_sure(change: Change | None) -> bool:
    """Whether a change is more than chance would make, with all others looked at taken into account."""
    return change is not None and change.p_adjusted < SURE


def moment(at: datetime | None) -> str:
    return "–" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def label(name: str | None) -> str:
    return "other" if name is None else LABELS.get(name, name.replace("_", " "))


def country(code: str | None) -> str:
    return "No country" if code is None else country_name(code)


def pretty(text: str | None) -> str:
    """JSON laid out for reading, anything else as it is."""
    if not text:
        return ""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2)
    except ValueError:
        return text


FILTERS = {
    "percent": percent,
    "interval": interval,
    "number": number,
    "points": points,
    "points_between": points_between,
    "chance": chance,
    "moment": moment,
    "label": label,
    "country": country,
    "pretty": pretty,
}
