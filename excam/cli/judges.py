"""``excam judges``: who judged."""

from __future__ import annotations

import click

from excam.cli.options import json_option, store_option
from excam.cli.output import moment, print_json, print_table


@click.command()
@store_option
@json_option
def judges(store: str, as_json: bool) -> None:
    """List the judges whose verdicts are in the store, the one used last first."""
    from excam.store import Store
    from excam.store.queries import list_judges

    with Store.open(store, read_only=True) as opened:
        found = opened.query(list_judges)
    if as_json:
        print_json([judge.model_dump(mode="json") for judge in found])
        return
    tuned = {True: "yes", False: "NO", None: "?"}
    print_table(
        ["judge", "base", "adapter", "tuned", "verdicts", "errors", "first", "last"],
        (
            [
                judge.judge_version,
                judge.base,
                judge.adapter,
                tuned[judge.tuned],
                judge.verdicts,
                judge.errors,
                moment(judge.first_at),
                moment(judge.last_at),
            ]
            for judge in found
        ),
        right=["verdicts", "errors"],
        whole=["judge", "first", "last"],
    )
