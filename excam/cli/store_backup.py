"""``excam store backup`` and ``restore``: a copy of the store that outlives it, and the way back."""

from __future__ import annotations

import shlex

import click

from excam.cli.options import json_option, store_option
from excam.cli.output import print_json


@click.command()
@click.argument("into")
@store_option
@json_option
def backup(into: str, store: str, as_json: bool) -> None:
    """Copy the store as it is now to a new folder below INTO, a folder or an address such as s3://bucket/backups.

    All tables are of one moment, while a writer may go on. The copy is plain Parquet with a manifest, and can be
    restored into either kind of catalogue.
    """
    from excam.store import Store

    with Store.open(store, read_only=True) as opened:
        folder, manifest = opened.backup(into)
    if as_json:
        print_json({"folder": folder} | manifest.model_dump(mode="json"))
        return
    click.echo(f"{folder}: {manifest.rows.get('pairs', 0):,} pairs, {manifest.rows.get('verdicts', 0):,} verdicts")
    click.echo(f"Restore it with: excam store restore {shlex.quote(folder)} --store URL")


@click.command()
@click.argument("folder")
@store_option
@json_option
def restore(folder: str, store: str, as_json: bool) -> None:
    """Make a new store from the backup in FOLDER; every file is checked first, and all rows are counted after.

    The ledger and the offsets of topics come back too: the next run goes on where the backup was taken and judges
    nothing twice.
    """
    from excam.store.restore import restore as make

    manifest = make(folder, store)
    if as_json:
        print_json({"store": store} | manifest.model_dump(mode="json"))
        return
    rows = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in manifest.rows.items() if count)
    click.echo(f"{store}: {rows or 'no rows'}, as of {manifest.taken_at:%Y-%m-%d %H:%M:%S} UTC")
