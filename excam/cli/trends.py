"""``excam trends``: how error rates move, with how sure one can be of it."""

from __future__ import annotations

from datetime import date
from typing import TYPE_CHECKING

import click
from rich.text import Text

from excam.cli.options import (
    csv_option,
    json_option,
    judge_version_option,
    slice_options,
    store_option,
)
from excam.cli.output import console, print_csv, print_json, print_table
from excam.cli.printable import printable

if TYPE_CHECKING:
    from excam.store.queries import Trend, TrendRow

COLUMNS = [
    "bucket",
    "group",
    "n",
    "errors",
    "rate",
    "low",
    "high",
    "n_effective",
    "change",
    "p_value",
    "p_adjusted",
    "judge_version",
]
SURE = 0.05


@click.command()
@click.option(
    "--by",
    type=click.Choice(["country", "language", "type", "severity", "model", "app", "all"]),
    default="country",
    show_default=True,
    help="What to split the rate by.",
)
@click.option(
    "--bucket", type=click.Choice(["day", "week", "month"]), default="week", show_default=True, help="How to cut time."
)
@slice_options
@judge_version_option
@store_option
@json_option
@csv_option
def trends(
    by: str,
    bucket: str,
    since: date | None,
    until: date | None,
    country: str | None,
    language: str | None,
    app: str | None,
    model: str | None,
    judge: str | None,
    store: str,
    as_json: bool,
    as_csv: bool,
) -> None:
    """Error rates over time: of the pairs that were judged and are about culture, the share with an error.

    Each rate comes with n, its 95 % interval (Wilson; on the effective n where traffic was sampled) and its change
    against the bucket before, in percentage points, with the p-value of that change. A star marks changes that stay
    below 0.05 after Holm's correction for all the comparisons shown. By type or severity a pair counts once for each
    kind of error it holds.
    """
    from excam.store import Store
    from excam.store.queries import Slice
    from excam.store.queries import trends as ask

    part = Slice(since=since, until=until, country=country, language=language, app=app, model=model)
    with Store.open(store, read_only=True) as opened:
        trend = opened.query(ask, by, bucket, part, judge)
    if as_json:
        print_json(trend.model_dump(mode="json"))
    elif as_csv:
        version = {"judge_version": trend.judge.judge_version}
        print_csv(COLUMNS, (row.model_dump(mode="json") | version for row in trend.rows))
    else:
        _print(trend)


def _print(trend: Trend) -> None:
    style = "yellow" if trend.judge.tuned is False else "dim"
    console().print(Text(printable(trend.judge.title), style=style), soft_wrap=True)
    if not trend.rows:
        console().print("No judged pair that is about culture falls into this slice.")
        return
    print_table(
        [trend.by.value, trend.bucket.value, "n", "errors", "rate", "95 % interval", "change", "p"],
        (_cells(trend, row) for row in trend.rows),
        right=["n", "errors", "rate", "95 % interval", "change", "p"],
        whole=[trend.bucket.value],
    )


def _cells(trend: Trend, row: TrendRow) -> list[object]:
    change = p_value = None
    if row.change is not None and row.p_value is not None and row.p_adjusted is not None:
        star = "*" if row.p_adjusted < SURE else " "
        change = Text(f"{row.change * 100:+.1f}{star}", style=("red" if row.change > 0 else "green") * (star == "*"))
        p_value = "<0.001" if row.p_value < 0.001 else f"{row.p_value:.3f}"
    interval = f"{row.low * 100:.1f}–{row.high * 100:.1f} %"
    return [_group(trend, row), row.bucket, row.n, row.errors, f"{row.rate * 100:.1f} %", interval, change, p_value]


def _group(trend: Trend, row: TrendRow) -> str:
    if row.group is None:
        return "all" if trend.by == "all" else "(none)"
    if trend.by == "country":
        from excam.country import country_name

        return f"{row.group} {country_name(row.group)}"
    return row.group
