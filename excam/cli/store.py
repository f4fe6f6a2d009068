"""``excam store``: make a store, look at it, keep it in order, copy it, delete from it."""

from __future__ import annotations

from dataclasses import asdict
from datetime import timedelta

import click

from excam.cli.numbers import Within
from excam.cli.options import json_option, store_option
from excam.cli.output import moment, print_json, print_table
from excam.cli.store_backup import backup, restore
from excam.cli.store_forget import forget


@click.group()
def store() -> None:
    """Create, describe, compact, back up or restore a store, or delete pairs from it.

    A store is ducklake:sqlite:PATH, one machine with the data files beside the catalogue, or
    ducklake:postgres:DSN?data_path=FOLDER, a server that several machines reach. A password comes from PGPASSWORD,
    EXCAM_STORE_PASSWORD or a passfile, never from the URL.
    """


for command in (forget, backup, restore):
    store.add_command(command)


@store.command()
@store_option
def init(store: str) -> None:
    """Create the store, or bring an older one up to date, as commands that write do; score and stream also create."""
    from excam.store import Store

    with Store.open(store) as opened:
        click.echo(f"{opened.url} is ready (schema version {opened.schema_version()}, data in {opened.data_path})")


@store.command()
@store_option
@json_option
def info(store: str, as_json: bool) -> None:
    """Say what is in the store: rows by table, files, who is writing, which judges."""
    from excam.store import Store
    from excam.store.queries import describe

    with Store.open(store, read_only=True) as opened:
        known = opened.query(describe)
        place = {"store": str(opened.url), "data_path": opened.data_path}
    if as_json:
        print_json(place | known.model_dump(mode="json"))
        return
    held = f"{known.writer} since {moment(known.writing_since)}" if known.writer else "nobody"
    facts = {
        **place,
        "schema version": known.schema_version,
        "data files": f"{known.files} ({known.bytes / 1e6:.1f} MB), {known.versions} versions",
        "logged": f"{moment(known.first_logged)} to {moment(known.last_logged)}",
        "being written by": held,
        **known.rows,
    }
    print_table(["", ""], facts.items())


@store.command()
@store_option
@click.option("--keep-days", default=1.0, show_default=True, type=Within(0), help="Keep versions this long.")
@click.option("--wait", default=0.0, metavar="SECONDS", help="Wait this long if another run holds the store.")
@json_option
def compact(store: str, keep_days: float, wait: float, as_json: bool) -> None:
    """Merge small files, forget old versions, remove files nothing refers to.

    Commits every few seconds make many small files; run this now and then, for instance nightly. Readers are not
    disturbed: files stay for an hour after they were replaced.
    """
    from excam.store import Store

    with Store.open(store, create=False) as opened, opened.lease("compacting", wait=wait) as lease:
        before, after = opened.compact(lease, timedelta(days=keep_days))
    if as_json:
        print_json({"before": asdict(before), "after": asdict(after)})
        return
    print_table(
        ["", "files", "MB", "versions"],
        [
            [name, size.files, f"{size.bytes / 1e6:.1f}", size.versions]
            for name, size in (("before", before), ("after", after))
        ],
        right=["files", "MB", "versions"],
    )


@store.command()
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@store_option
@json_option
def snapshot(file: str, force: bool, store: str, as_json: bool) -> None:
    """Write the store as it is now to FILE, a plain DuckDB database for notebooks and BI tools.

    Tables: pairs (with their text), verdicts, errors, dead_letters, judges, runs, stream_ranges, reviews, alerts,
    alert_deliveries, replay_requests.
    """
    from excam.store import Store

    with Store.open(store, read_only=True) as opened:
        rows = opened.snapshot(file, replace=force)
    if as_json:
        print_json(rows)
        return
    click.echo(f"{file}: " + ", ".join(f"{count} {name.replace('_', ' ')}" for name, count in rows.items()))
