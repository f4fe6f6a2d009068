"""``excam score``: from logs to verdicts, with a progress bar that says what is happening."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from excam.cli.judge_options import judge_options, judge_settings
from excam.cli.numbers import Within
from excam.cli.options import json_option, store_option
from excam.cli.printable import printable
from excam.cli.progress import RunDisplay

if TYPE_CHECKING:
    from pipelines.batch import Scored


@click.command()
@click.argument("logs", nargs=-1, required=True)
@store_option
@judge_options
@click.option("--mapping", type=click.Path(exists=True, dir_okay=False), help="YAML that names your columns.")
@click.option(
    "--sample",
    default=1.0,
    show_default=True,
    type=Within(0, 1, min_open=True),
    help="Share of the pairs to judge, chosen by a hash of their id: the same every run.",
)
@click.option("--cap-per-country", type=click.IntRange(1), help="Judge about this many pairs a country and file.")
@click.option("--gate/--no-gate", default=True, show_default=True, help="Leave what is not about culture to the gate.")
@click.option("--wait", default=0.0, metavar="SECONDS", help="Wait this long if another run holds the store.")
@json_option
def score(
    logs: tuple[str, ...],
    store: str,
    mapping: str | None,
    sample: float,
    cap_per_country: int | None,
    gate: bool,
    wait: float,
    as_json: bool,
    **judge: object,
) -> None:
    """Judge the pairs in LOGS: Parquet files, folders or globs, on a disk or any file system Arrow or fsspec opens.

    Pairs judged before are left alone, so the same command every night judges what is new. Ctrl-C stops cleanly and
    the next run goes on where this one stopped. Records that cannot be judged go to the dead letters.
    """
    from excam.mapping import RecordMapping
    from pipelines.batch import ScoreOptions, score_logs

    settings = judge_settings(judge)
    options = ScoreOptions(
        mapping=RecordMapping.load(mapping) if mapping else RecordMapping(),
        share=sample,
        cap_per_country=cap_per_country,
        gate=gate,
        wait=wait,
    )
    with RunDisplay(quiet=as_json) as display:
        scored = score_logs(logs, store, settings, options, display)
    click.echo(json.dumps(asdict(scored), default=str) if as_json else summary(scored))


def summary(scored: Scored) -> str:
    """What a run did, in a few lines."""
    tally, plan = scored.tally, scored.planned
    lines = [printable(f"{path.uri}: {path.reason} (dead letter)") for path in plan.broken]
    if scored.missing:
        lines.append(f"NO ROW IS A PAIR. All {tally.rows:,} rows lack the same field: {printable(scored.missing)}")
    if not plan.files:
        lines.append(f"Nothing to judge again by {scored.judge_version}.")
    elif not tally.rows and not plan.broken:
        files = "1 file holds" if plan.files == 1 else f"{plan.files:,} files hold"
        lines.append(f"Nothing new: the {files} no row that {scored.judge_version} has not read already.")
    else:
        lines.append(
            f"{tally.rows:,} rows: {tally.judged:,} judged, {tally.reused:,} known texts, "
            f"{tally.errors:,} with errors, {tally.not_applicable:,} not about culture, "
            f"{tally.skipped:,} outside the sample, {tally.dead_letters:,} dead letters."
        )
    if tally.dead_letters:
        lines.append("See why with: excam dead-letters list")
    if scored.open_records:
        again = f"excam dead-letters replay {'--mapping FILE' if scored.missing else '[--mapping FILE]'}"
        lines.append(f"{scored.open_records:,} records have no verdict. When the cause is mended: {again}")
    if not scored.tuned:
        lines.append("This judge is an UNTUNED base model: its verdicts show that the system works, not what is true.")
    speed = f", {scored.pairs_per_second:.1f} pairs/s" if tally.judged else ""
    lines.append(f"judge {scored.judge_version}, run {scored.run_id}{speed}")
    return "\n".join(lines)
