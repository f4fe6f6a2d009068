"""``excam judge``: who judges, one pair by hand, the judge as a service, and its calibration."""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import click

from excam.cli.aside import aside
from excam.cli.judge_options import judge_options, judge_settings
from excam.cli.numbers import Within
from excam.cli.output import print_json
from excam.cli.paths import LocalPath

FOLDER = LocalPath(file_okay=False, exists=True)
FILE = LocalPath(dir_okay=False)


@click.group()
def judge() -> None:
    """Tell who the judge is, try it on a pair, or serve it over HTTP."""


@judge.command()
@judge_options
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def info(as_json: bool, **chosen: Any) -> None:
    """Show the judge that these options describe and its judge_version, without starting it."""
    from serve.identity import prepare

    ready = prepare(judge_settings(chosen))
    card = ready.card
    if as_json:
        print_json({"judge_version": card.judge_version, "tuned": card.tuned, **card.model_dump()})
        return
    click.echo(f"judge_version  {card.judge_version}")
    click.echo(f"base           {card.base} (sha256 {card.base_sha256[:16]}…)")
    click.echo(f"adapter        {card.adapter or 'none: this base model is UNTUNED, do not rely on its verdicts'}")
    click.echo(f"prompt         sha256 {card.prompt_sha256[:16]}…")
    click.echo(f"decoding       {json.dumps(card.decoding)}")


@judge.command("try")
@click.argument("instruction")
@click.argument("output")
@judge_options
def try_(instruction: str, output: str, **chosen: Any) -> None:
    """Judge one pair and print its verdict as JSON."""
    import ray
    from pydantic import ValidationError

    from excam.fault import UserError
    from serve.schemas import PairIn, outcome_of
    from serve.start import start_judge

    try:
        pair = PairIn(instruction=instruction, output=output)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        fix = "give an instruction and the text that was generated for it"
        raise UserError(f"{first['loc'][0]}: {first['msg']}", fix) from error
    handle, card = start_judge(judge_settings(chosen), waiting=_say_waiting())
    answer = handle.judge_batch.remote([(instruction, output)]).result()[0]
    found = outcome_of(pair, answer).model_dump(mode="json")
    print_json({"judge_version": card.judge_version, "tuned": card.tuned, **found})
    ray.shutdown()


@judge.command()
@click.option("--host", default="127.0.0.1", show_default=True, help="Any other than loopback needs EXCAM_TOKEN.")
@click.option("--port", default=8000, show_default=True, type=click.IntRange(1, 65535))
@judge_options
def serve(host: str, port: int, **chosen: Any) -> None:
    """Serve the judge over HTTP until Ctrl-C: POST /v1/judge, GET /docs, /-/health, /metrics."""
    from serve.start import start_judge

    _, card = start_judge(judge_settings(chosen), http=(host, port), waiting=_say_waiting())
    click.echo(f"judge {card.judge_version} ready at http://{host}:{port}/v1/judge (its documentation: /docs)")
    while True:
        time.sleep(3600)


@judge.command()
@click.option("--data", type=FOLDER, required=True, help="Folder with the dataset; its dev split is what fits.")
@click.option("--judged", type=FILE, help="From `excam evaluate --split dev`, or a training run's dev-decisions.npz.")
@click.option("--limit", type=click.IntRange(2), help="Ask about so many pairs of each source [default: all].")
@click.option("--method", type=click.Choice(["temperature", "isotonic"]), help="[default: isotonic from 1,000 pairs]")
@click.option("--max-false-alarms", type=Within(0, 1), help="Budget for the threshold, such as 0.02.")
@click.option(
    "--max-ordinary-alarms", type=Within(0, 1), help="Budget for pairs not about culture alone; needs --judged *.npz."
)
@click.option("--out", type=FILE, required=True, help="YAML file for `excam adapters publish --calibration`.")
@judge_options
def calibrate(
    data: Path,
    judged: Path | None,
    limit: int | None,
    method: str | None,
    max_false_alarms: float | None,
    max_ordinary_alarms: float | None,
    out: Path,
    **chosen: Any,
) -> None:
    """Fit how P(error) becomes a probability to rely on, and the threshold that keeps a false-alarm budget."""
    from excam.calibrate import calibrate as fit
    from excam.calibrate import rates, write_calibration
    from excam.cli.calibration_pairs import asked_now, judged_before

    out.parent.mkdir(parents=True, exist_ok=True)
    settings = judge_settings({**chosen, "calibration": "none"})
    found = judged_before(judged, data, settings) if judged else asked_now(data, limit, settings)
    made = fit(
        found.p_error,
        found.labels,
        groups=found.groups,
        method=method,
        max_false_alarms=max_false_alarms,
        ordinary=found.ordinary,
        max_ordinary_alarms=max_ordinary_alarms,
    )
    write_calibration(made, out)
    click.echo(f"{made.method} on {made.pairs:,} cultural pairs of dev")
    click.echo(f"ECE        {made.ece_before:.4f} before, {made.ece_after:.4f} after (on pairs left out of the fit)")
    share = rates(made, found.p_error, found.labels, found.ordinary or 0.0)
    reached = ", ".join(f"{name.replace('_', ' ')} {rate:.2%}" for name, rate in share.items())
    click.echo(f"threshold  {made.threshold:.4f}: {reached}")
    if made.ordinary_weight != 1:
        click.echo(f"doubt      P(not applicable) counts {made.ordinary_weight:g} times")
    click.echo(f"written to {out}; `excam adapters publish --calibration {out}` puts it on an adapter's card")


def _say_waiting() -> Any:
    said = [-10.0]

    def waiting(seconds: float) -> None:
        if seconds - said[0] >= 10:
            said[0] = seconds
            aside(f"starting the judge ({seconds:.0f} s)")

    return waiting
