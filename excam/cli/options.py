"""Options that several commands share: which store, which judge, which slice of the traffic, which form of output."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any

import click

from excam.store.url import DEFAULT_URL

Command = Callable[..., Any]

store_option = click.option(
    "--store",
    envvar="EXCAM_STORE",
    default=DEFAULT_URL,
    show_default=True,
    show_envvar=True,
    metavar="URL",
    help="The store: ducklake:sqlite:PATH or ducklake:postgres:DSN?data_path=FOLDER.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
csv_option = click.option("--csv", "as_csv", is_flag=True, help="Print CSV instead of a table.")
judge_version_option = click.option(
    "--judge", metavar="VERSION", help="Judge version, or the beginning of one. Default: the judge used last."
)

_AGO = re.compile(r"(\d{1,5})\s*([dwmy])")
_DAYS = {"d": 1, "w": 7, "m": 30, "y": 365}


class Day(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """A day as 2025-06-30, or as so long ago: 30d, 12w, 6m, 1y."""

    name = "day"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> date:
        if isinstance(value, date):
            return value
        text = str(value).strip().lower()
        if ago := _AGO.fullmatch(text):
            return datetime.now(UTC).date() - timedelta(days=int(ago[1]) * _DAYS[ago[2]])
        try:
            return date.fromisoformat(text)
        except ValueError:
            self.fail(f"{value!r} is neither a day such as 2025-06-30 nor a span such as 30d, 12w or 6m", param, ctx)


class Country(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """A country by its two-letter code or in any common spelling, of any language."""

    name = "country"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        text = str(value).strip()
        if re.fullmatch(r"[A-Z]{2}", text):
            return text
        from excam.country import normalise

        code = normalise(text)
        if code is None:
            self.fail(f"{value!r} is no country this version knows; try its two-letter code, such as ID", param, ctx)
        return code


_SLICE = (
    click.option("--since", type=Day(), help="Only pairs logged from this day on: 2025-06-30, or 30d, 12w, 6m ago."),
    click.option("--until", type=Day(), help="Only pairs logged before this day, the day itself not included."),
    click.option("--country", type=Country(), help="Only pairs about this country: a code or a name."),
    click.option("--language", help="Only pairs whose instruction is in this language, as a code such as id."),
    click.option("--app", help="Only pairs of this app."),
    click.option("--model", help="Only pairs of this chatbot model."),
)


def slice_options(command: Command) -> Command:
    """Add the options that choose a slice of the traffic; the command gets them one by one."""
    for option in reversed(_SLICE):
        command = option(command)
    return command
