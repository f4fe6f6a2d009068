"""``excam dead-letters``: records that could not be judged, and why."""

from __future__ import annotations

import json

import click

from excam.cli.options import json_option, store_option
from excam.cli.output import console, moment, print_json, print_table
from excam.cli.printable import printable, shortened
from excam.cli.replay import replay


@click.group()
def dead_letters() -> None:
    """List, show and replay records that could not be judged. Nothing is dropped: every one keeps its original."""


@dead_letters.command("list")
@store_option
@click.option("--reason", help="Only those with this reason, as the list shows it.")
@click.option("--all", "include_resolved", is_flag=True, help="Also those that were judged or dealt with since.")
@click.option("--limit", default=50, show_default=True, type=click.IntRange(1), help="How many, the latest first.")
@json_option
def list_them(store: str, reason: str | None, include_resolved: bool, limit: int, as_json: bool) -> None:
    """List dead letters, the latest first."""
    from excam.store import Store

    with Store.open(store, read_only=True) as opened:
        found = opened.dead_letters(reason=reason, include_resolved=include_resolved, limit=limit).to_pylist()
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("No dead letters." if include_resolved else "No open dead letters.")
        return
    print_table(
        ["id", "last seen", "stage", "reason", "tries", "where", "detail"],
        (
            [
                letter["dead_id"],
                moment(letter["last_at"]) + (" (resolved)" if letter["resolved_at"] else ""),
                letter["stage"],
                letter["reason"],
                letter["tries"],
                f"{letter['source']} part {letter['part']} row {letter['row']}",
                shortened(letter["detail"] or "", 80),
            ]
            for letter in found
        ),
        right=["tries"],
        whole=["id", "last seen"],
    )


@dead_letters.command("show")
@click.argument("dead_id")
@store_option
@json_option
def show_one(dead_id: str, store: str, as_json: bool) -> None:
    """Show one dead letter with its original record. DEAD_ID may be the beginning of an id."""
    from excam.store import Store

    with Store.open(store, read_only=True) as opened:
        found = opened.dead_letter(dead_id).to_pylist()
    if as_json:
        print_json(found)
        return
    out = console()
    for letter in found:
        record = letter.pop("record")
        for name, value in letter.items():
            out.print(f"{name:>14}  {printable(str(value)) if value is not None else '–'}", soft_wrap=True)
        out.print(f"{'record':>14}")
        out.print(printable(_readable(record), lines=True) if record else "–", soft_wrap=True)


def _readable(record: str) -> str:
    """JSON laid out for reading, anything else as it is."""
    try:
        return json.dumps(json.loads(record), ensure_ascii=False, indent=2)
    except (ValueError, RecursionError):
        return record


dead_letters.add_command(replay)
