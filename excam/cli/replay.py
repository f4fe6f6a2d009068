"""``excam dead-letters replay``: try again what could not be judged."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import click

from excam.cli.aside import aside
from excam.cli.judge_options import judge_options, judge_settings
from excam.cli.options import json_option, store_option
from excam.cli.printable import printable
from excam.cli.progress import RunDisplay
from excam.cli.score import summary


@click.command()
@click.argument("dead_ids", nargs=-1)
@click.option("--requested", is_flag=True, help="Only those of this judge that somebody asked for on the dashboard.")
@store_option
@judge_options
@click.option("--mapping", type=click.Path(exists=True, dir_okay=False), help="YAML that names your columns.")
@click.option("--schema-registry", metavar="URL", help="Registry for Avro and Protobuf messages among them.")
@click.option("--gate/--no-gate", default=True, show_default=True, help="Leave what is not about culture to the gate.")
@click.option("--wait", default=0.0, metavar="SECONDS", help="Wait this long if another run holds the store.")
@json_option
def replay(
    dead_ids: tuple[str, ...],
    requested: bool,
    store: str,
    mapping: str | None,
    schema_registry: str | None,
    gate: bool,
    wait: float,
    as_json: bool,
    **judge: Any,
) -> None:
    """Judge dead letters again: those named, those requested on the dashboard, or all that are open for this judge.

    DEAD_IDS may be the beginnings of ids. Those that get a verdict are marked as resolved, the others count one more
    try. A file that could not be read has no record to replay: mend it and run `excam score` again.
    """
    from excam.fault import UserError
    from excam.mapping import RecordMapping

    if requested and dead_ids:
        raise UserError("both dead letters and --requested are named", "leave one of them out")
    if requested and not _waiting(store, judge):
        click.echo("null" if as_json else "No replay is requested.")
        return
    named = whole_ids(store, dead_ids) if dead_ids else None
    from pipelines.again import replay as run
    from pipelines.batch import ScoreOptions

    fields = RecordMapping.load(mapping) if mapping else RecordMapping()
    options = ScoreOptions(mapping=fields, gate=gate, wait=wait, registry=schema_registry)
    with RunDisplay(quiet=as_json) as display:
        scored = run(
            store,
            judge_settings(judge),
            named,
            options,
            display,
            requested=requested,
        )
    click.echo(json.dumps(asdict(scored), default=str) if as_json else summary(scored))


def whole_ids(store: str, beginnings: Sequence[str]) -> list[str]:
    """The ids that begin so; one of no dead letter, or of several, is refused before any of them is judged."""
    from excam.store import Store

    with Store.open(store, read_only=True) as opened:
        return [str(opened.dead_letter(beginning)["dead_id"][0]) for beginning in beginnings]


def _waiting(store: str, judge: Mapping[str, Any]) -> int:
    """How many wait for this judge; asked first, so that a command that runs every few minutes begins no idle run.

    What waits for other judges is named: it goes on waiting until one of them is run.
    """
    from excam.store import Store
    from excam.store.queries.judges import judge_names
    from excam.store.replays import ReplayState, replays

    with Store.open(store, read_only=True) as opened:
        waiting = Counter(one.judge_version for one in opened.query(replays) if one.state is ReplayState.WAITING)
        names = opened.query(judge_names) if waiting else {}
    if not waiting:
        return 0
    from serve.identity import identify

    own = waiting.pop(identify(judge_settings(judge)).judge_version, 0)
    for version, count in waiting.items():
        who = f"judge {version} ({printable(names.get(version, 'no card in the store'))})"
        again = "give that judge's --base, --adapter and other settings to replay them"
        aside(f"{count:,} requested of {who}, which is not this one: {again}")
    return own
