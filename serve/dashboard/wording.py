"""How figures are said on the pages: with units, in plain words, the same everywhere."""

from __future__ import annotations

import json
from datetime import datetime

from babel import Locale

from excam.country import country_name
from excam.store.queries.rates import Change, Rate
from excam.store.reviews import Agreement

SURE = 0.05
LANGUAGES = Locale("en").languages

LABELS = {
    "norms_and_values": "norms and values",
    "figures": "figures and dates",
    "language": "language and terms",
    "not_applicable": "not about culture",
    "error": "error found",
    "partly": "partly right",
    "correct": "no error found",
    "not_found": "words not found in the text",
    "p_error": "judge's certainty from",
    "errors": "with errors",
    "reused": "known from before",
    "skipped": "outside the sample",
    "dead_letters": "could not be judged",
    "missing_output": "the record has no answer",
    "unreadable_file": "the file cannot be read",
}


def percent(share: float | None) -> str:
    return "–" if share is None else f"{share * 100:.1f} %"


def interval(rate: Rate | Agreement) -> str:
    return f"{rate.low * 100:.1f} to {rate.high * 100:.1f} %"


def number(count: float | None) -> str:
    return "–" if count is None else f"{count:,.0f}"


def points(change: Change) -> str:
    """A change in percentage points, with a sign that also says its direction; what rounds to nothing has none."""
    moved = round(change.difference * 100, 1)
    return _signed(f"{'▲' if moved > 0 else '▼'} {moved:+.1f} points") if moved else "± 0.0 points"


def points_between(change: Change) -> str:
    return _signed(f"{change.low * 100:+.1f} to {change.high * 100:+.1f}")


def _signed(text: str) -> str:
    """A minus as long as a plus, not a hyphen."""
    return text.replace("-", "−")


def chance(p_value: float) -> str:
    """Whether chance alone explains a difference, in a word; the p-value behind it for those who know it."""
    return "unlikely" if p_value < SURE else "possible"


def p_value(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def is_sure(change: Change | None) -> bool:
    """Whether a change is more than chance would make, with all others looked at taken into account."""
    return change is not None and change.p_adjusted < SURE


def moment(at: datetime | None) -> str:
    return "–" if at is None else f"{at:%Y-%m-%d %H:%M} UTC"


def label(name: str | None) -> str:
    return "other" if name is None else LABELS.get(name, name.replace("_", " "))


def counts(text: str | None) -> str:
    """What a run did, in words: the figures it noted that are not nought."""
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return "–"
    told = [f"{number(value)} {label(name)}" for name, value in found.items() if isinstance(value, int) and value]
    return ", ".join(told) or ("nothing new" if found else "–")


def file_name(source: str | None) -> str:
    """The last part of where a record came from: enough to find it, without the folders of the machine that read it."""
    return (source or "").rstrip("/").rpartition("/")[2] or "–"


def country(code: str | None) -> str:
    return "No country" if code is None else country_name(code)


def language(code: str | None) -> str:
    """A language by its English name; a code that has none stays as it is."""
    return "–" if not code else LANGUAGES.get(code, code)


def pretty(text: str | None) -> str:
    """JSON laid out for reading, anything else as it is: what is nested too deep, or holds half a character."""
    if not text:
        return ""
    try:
        return json.dumps(json.loads(text), ensure_ascii=False, indent=2).encode().decode()
    except (ValueError, RecursionError):
        return text


FILTERS = {
    "percent": percent,
    "interval": interval,
    "number": number,
    "points": points,
    "points_between": points_between,
    "chance": chance,
    "p_value": p_value,
    "counts": counts,
    "file_name": file_name,
    "moment": moment,
    "label": label,
    "country": country,
    "language": language,
    "pretty": pretty,
}
