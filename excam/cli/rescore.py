"""``excam rescore``: history under a new judge."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Any

import click

from excam.cli.judge_options import judge_options, judge_settings
from excam.cli.options import json_option, store_option
from excam.cli.progress import RunDisplay
from excam.cli.score import summary


@click.command()
@store_option
@judge_options
@click.option("--gate/--no-gate", default=True, show_default=True, help="Leave what is not about culture to the gate.")
@click.option("--wait", default=0.0, metavar="SECONDS", help="Wait this long if another run holds the store.")
@json_option
def rescore(store: str, gate: bool, wait: float, as_json: bool, **judge: Any) -> None:
    """Judge every pair in the store with the judge these options describe.

    A new judge is a new series: verdicts of other judges stay. Stopped at any time, it goes on where it was.
    """
    from pipelines.again import rescore as run
    from pipelines.batch import ScoreOptions

    with RunDisplay(quiet=as_json) as display:
        scored = run(
            store,
            judge_settings(judge),
            ScoreOptions(gate=gate, wait=wait),
            display,
        )
    click.echo(json.dumps(asdict(scored), default=str) if as_json else summary(scored))
