"""``excam store forget``: delete what a person said, or what is older than it may be kept."""

from __future__ import annotations

from dataclasses import asdict
from datetime import date
from typing import TYPE_CHECKING, Any

import click

from excam.cli.options import Day, json_option, store_option
from excam.cli.output import print_json

if TYPE_CHECKING:
    from excam.store import Forgotten


class MetadataValue(click.ParamType):  # type: ignore[type-arg]  # generic from click 8.5 on
    """A name and a value of a pair's metadata, as user.id=4711."""

    name = "key=value"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, str]:
        if isinstance(value, tuple):
            return value
        name, equals, wanted = str(value).partition("=")
        if not (name and equals and wanted):
            self.fail(f"{value!r} is not of the form NAME=VALUE, such as user.id=4711", param, ctx)
        return name, wanted


@click.command()
@click.option("--pair", "pair_ids", multiple=True, metavar="ID", help="This pair; may be repeated.")
@click.option(
    "--where",
    "metadata",
    multiple=True,
    type=MetadataValue(),
    help="Pairs whose metadata holds this, such as user.id=4711; of several all must hold.",
)
@click.option(
    "--before",
    "--older-than",
    "days",
    multiple=True,
    type=Day(),
    help="Pairs logged before this day: 2025-06-30, or 90d, 12w, 6m ago; of several before all. "
    "For retention run it nightly.",
)
@click.option("--keep-scores", is_flag=True, help="Keep the verdicts for trends, without words, ids and times.")
@click.option("--yes", is_flag=True, help="Delete. Without it the command only says what it would delete.")
@click.option("--wait", default=0.0, metavar="SECONDS", help="Wait this long if another run holds the store.")
@store_option
@json_option
def forget(
    pair_ids: tuple[str, ...],
    metadata: tuple[tuple[str, str], ...],
    days: tuple[date, ...],
    keep_scores: bool,
    yes: bool,
    wait: float,
    store: str,
    as_json: bool,
) -> None:
    """Delete pairs with their text, verdicts, reviews and dead letters, so that no byte of them is left in the store.

    Where several kinds of choice are given, a pair must meet all of them. A text that other pairs share stays with
    them. Versions of the store before now are dropped. Logs, topics, snapshots and backups are outside the store:
    delete there too, or the next reading of a changed log brings the pairs back.
    """
    from excam.store import Selection, Store

    chosen = Selection(pair_ids, metadata, min(days, default=None))
    if not yes:
        with Store.open(store, read_only=True) as opened:
            found = opened.forgettable(chosen)
    else:
        with Store.open(store, create=False) as opened, opened.lease("deleting pairs", wait=wait) as lease:
            found = opened.forget(lease, chosen, keep_scores=keep_scores)
    if as_json:
        print_json({"deleted": yes} | asdict(found))
    else:
        click.echo(told(found, yes, keep_scores))


def told(found: Forgotten, done: bool, keep_scores: bool) -> str:
    """What was or would be deleted, in a few lines."""
    verb = "Deleted" if done else "Would delete"
    verdicts = f"{found.verdicts:,} verdicts with {found.errors:,} errors"
    lines = [
        f"{verb} {found.pairs:,} pairs, {found.texts:,} texts, {'the words of ' if keep_scores else ''}{verdicts}, "
        f"{found.reviews:,} reviews and {found.dead_letters:,} dead letters."
    ]
    if found.shared_texts:
        lines.append(f"{found.shared_texts:,} texts stay: pairs that were not chosen have the same text.")
    if done:
        lines.append("Files, old versions and catalogue were written anew without them. Backups and logs were not.")
    else:
        lines.append("Nothing was changed. Add --yes to delete.")
    return "\n".join(lines)
