"""Options that several commands share: which store, which judge, which slice of the traffic, which form of output."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from difflib import get_close_matches
from functools import wraps
from typing import Any

import click
from click.core import ParameterSource

from excam.fault import UserError
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


def _one_form(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    if value and (ctx.params.get("as_json") or ctx.params.get("as_csv")):
        raise click.UsageError("--json and --csv are two forms of output: choose one", ctx)
    return value


json_option = click.option("--json", "as_json", is_flag=True, callback=_one_form, help="Print JSON instead of a table.")
csv_option = click.option("--csv", "as_csv", is_flag=True, callback=_one_form, help="Print CSV instead of a table.")
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
        try:
            if ago := _AGO.fullmatch(text):
                return datetime.now(UTC).date() - timedelta(days=int(ago[1]) * _DAYS[ago[2]])
            return date.fromisoformat(text)
        except OverflowError:
            self.fail(f"{value!r} ago is before the year 1", param, ctx)
        except ValueError:
            self.fail(f"{value!r} is neither a day such as 2025-06-30 nor a span such as 30d, 12w or 6m", param, ctx)


class Country(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """A country by its two-letter code or in any common spelling, of any language."""

    name = "country"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from excam.country import country_name, normalise
        from excam.country.sources import alpha3

        code = normalise(str(value))
        if code is None:
            names = {country_name(known): known for known in alpha3().values()}
            alike = get_close_matches(str(value).title(), names, 1)
            advice = f"did you mean {alike[0]}, {names[alike[0]]}?" if alike else "try a name or code, such as ID"
            self.fail(f"{value!r} is no country this version knows; {advice}", param, ctx)
        return code


class Language(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """A language by its code or its English name; what is neither may still be what a log calls one."""

    name = "language"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        from excam.language import language_code

        return language_code(str(value)) or str(value)


_SLICE = (
    click.option("--since", type=Day(), help="Only pairs logged from this day on: 2025-06-30, or 30d, 12w, 6m ago."),
    click.option("--until", type=Day(), help="Only pairs logged before this day, the day itself not included."),
    click.option("--country", type=Country(), help="Only pairs about this country: a code or a name."),
    click.option("--language", type=Language(), help="Only pairs asked in this language: a code or a name."),
    click.option("--app", help="Only pairs of this app."),
    click.option("--model", help="Only pairs of this chatbot model."),
)


def slice_options(command: Command) -> Command:
    """Add the options that choose a slice of the traffic; the command gets them one by one."""

    @wraps(command)
    def checked(*args: Any, since: date | None, until: date | None, **others: Any) -> Any:
        if since and until and since >= until:
            what = f"--since {since} is not before --until {until}, so no day lies between them"
            raise UserError(what, "name an earlier --since or a later --until, which is the first day left out")
        return command(*args, since=since, until=until, **others)

    for option in reversed(_SLICE):
        checked = option(checked)
    return checked


def refuse_options_before(subcommand: str, ctx: click.Context) -> None:
    """A group that works by itself too has options of its own: before a subcommand they would count for nothing."""
    for option in ctx.command.params:
        if option.name and ctx.get_parameter_source(option.name) is ParameterSource.COMMANDLINE:
            what = f"{option.opts[0]} stands before `{subcommand}`, which would not see it there"
            fix = f"write it after, if `{subcommand}` takes it: {ctx.command_path} {subcommand} {option.opts[0]} …"
            raise UserError(what, fix)
