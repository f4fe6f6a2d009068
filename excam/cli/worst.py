"""``excam worst``: where to look first."""

from __future__ import annotations

from datetime import date
from typing import Any

import click
from rich.text import Text

from excam.cli.marked import STYLES
from excam.cli.options import csv_option, json_option, judge_version_option, slice_options, store_option
from excam.cli.output import console, moment, print_csv, print_json
from excam.cli.printable import printable, shortened

COLUMNS = ["pair_id", "score", "p_error", "country", "language", "app", "model", "logged_at", "errors"]


@click.command()
@slice_options
@click.option("--limit", default=10, show_default=True, type=click.IntRange(1, 10_000), help="How many reports.")
@judge_version_option
@store_option
@json_option
@csv_option
def worst(
    since: date | None,
    until: date | None,
    country: str | None,
    language: str | None,
    app: str | None,
    model: str | None,
    limit: int,
    judge: str | None,
    store: str,
    as_json: bool,
    as_csv: bool,
) -> None:
    """List the gravest reports: the lowest scores first, and among equals those the judge is surest of.

    Read one in full with `excam show PAIR_ID`.
    """
    from excam.store import Store
    from excam.store.queries import Slice, pick_judge, worst_pairs

    part = Slice(since=since, until=until, country=country, language=language, app=app, model=model)
    with Store.open(store, read_only=True) as opened:
        used = opened.query(pick_judge, judge)
        found = opened.query(worst_pairs, used.judge_version, part, limit)
    rows = [pair.model_dump(mode="json") for pair in found]
    if as_json:
        print_json({"judge": used.model_dump(mode="json"), "pairs": rows})
        return
    if as_csv:
        print_csv(COLUMNS, (row | {"errors": len(row["errors"])} for row in rows))
        return
    out = console()
    out.print(Text(printable(used.title), style="yellow" if used.tuned is False else "dim"), soft_wrap=True)
    if not found:
        out.print("No report with an error falls into this slice.")
    for pair, row in zip(found, rows, strict=True):
        facts = [pair.country, pair.language, pair.app, pair.model, moment(pair.logged_at)]
        out.print(Text(f"{pair.score or 0:+.0f}  {printable(pair.pair_id)}", style="bold"), soft_wrap=True)
        out.print(Text("    " + printable(" · ".join(fact for fact in facts if fact)), style="dim"), soft_wrap=True)
        for error in row["errors"]:
            out.print(_line(error), soft_wrap=True)


def _line(error: dict[str, Any]) -> Text:
    text = Text("    ")
    text.append(printable(f"{error['severity']} {error['type']}"), style=STYLES.get(error["severity"], "bold"))
    text.append(f" “{shortened(error['span'], 80)}”: {shortened(error['explanation'], 200)}")
    return text
