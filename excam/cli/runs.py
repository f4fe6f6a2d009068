"""``excam runs``: what was run, by whom, and how it ended."""

from __future__ import annotations

import json

import click

from excam.cli.options import json_option, store_option
from excam.cli.output import moment, print_json, print_table


@click.command()
@store_option
@click.option("--limit", default=20, show_default=True, type=click.IntRange(1), help="How many, the latest first.")
@json_option
def runs(store: str, limit: int, as_json: bool) -> None:
    """List the runs that wrote to the store. A run whose process died is shown as interrupted."""
    from excam.store import Store

    with Store.open(store, read_only=True) as opened:
        found = opened.runs(limit).to_pylist()
    for run in found:
        run["arguments"] = json.loads(run["arguments"] or "{}")
        run["counts"] = json.loads(run["counts"] or "{}")
    if as_json:
        print_json(found)
        return
    print_table(
        ["run", "kind", "judge", "started", "ended", "state", "counts", "by"],
        (
            [
                run["run_id"],
                run["kind"],
                run["judge_version"],
                moment(run["started_at"]),
                moment(run["ended_at"]),
                run["state"],
                ", ".join(f"{name} {value}" for name, value in run["counts"].items() if value),
                run["who"],
            ]
            for run in found
        ),
        whole=["run", "judge", "started", "state"],
    )
