"""``excam alerts``: be told when a rate is too high, rises, or the traffic stops."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from excam.cli.options import json_option, store_option
from excam.cli.output import print_json
from excam.cli.printable import printable

if TYPE_CHECKING:
    import duckdb

    from excam.alerts.rules import Rules
    from excam.store import Store

rules_option = click.option(
    "--rules",
    "file",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    envvar="EXCAM_ALERT_RULES",
    show_envvar=True,
    help="YAML file of rules.",
)


@click.group()
def alerts() -> None:
    """Check rules on a store, or see how often they would have fired."""


@alerts.command()
@rules_option
@store_option
@click.option("--follow", type=click.FloatRange(1), metavar="SECONDS", help="Look so often, and check each commit.")
@json_option
def check(file: Path, store: str, follow: float | None, as_json: bool) -> None:
    """Check every rule; each alert fires once and clears once, goes to the webhook and is kept in the store.

    The webhook's address stands in the file or, better, in EXCAM_ALERT_WEBHOOK. Runs check by themselves after every
    commit where EXCAM_ALERT_RULES names the file; with --follow this goes on until Ctrl-C and does it from beside.
    Where nothing was judged yet, or there is no store yet, nothing fires and that is no failure.
    """
    from excam.alerts.rules import Rules
    from excam.store import NoStoreError, Store

    rules = Rules.load(file)
    try:
        Store.open(store, read_only=True).close()
    except NoStoreError as error:  # a check that a timer starts may well come before the first run
        click.echo(f"{error.message} yet: nothing to check", err=True)
        if as_json:
            print_json([])
        return
    with Store.open(store) as opened:
        seen: object = None
        while True:
            now = opened.query(_occasion)
            if now != seen:
                _check(opened, rules, as_json, goes_on=follow is not None)
                seen = now
            if not follow:
                return
            time.sleep(follow)


@alerts.command()
@rules_option
@store_option
@json_option
def test(file: Path, store: str, as_json: bool) -> None:
    """Replay the rules on past data, day by day, and say how often they would have fired. Nothing is sent or kept."""
    from dataclasses import asdict

    from excam.alerts.check import replay
    from excam.alerts.rules import Rules
    from excam.store import Store

    rules = Rules.load(file)
    with Store.open(store, read_only=True) as opened:
        told = opened.query(replay, rules)
    if as_json:
        print_json([asdict(firing) for firing in told])
        return
    for firing in told:
        times = {0: "never", 1: "once"}.get(firing.fired, f"{firing.fired} times")
        click.echo(f"{firing.rule}: would have fired {times}")
        for day, message in firing.days[:10]:
            click.echo(f"  {day}  {printable(message)}")


def _check(store: Store, rules: Rules, as_json: bool, *, goes_on: bool) -> None:
    from excam.alerts.check import check as run
    from excam.alerts.check import standing

    try:
        events = store.query(run, rules)
        if as_json:
            print_json([event.model_dump(mode="json") for event in events])
        else:
            for event in events:
                click.echo(f"{event.event}: {printable(event.message)}")
            click.echo(f"{len(store.query(standing))} alerts stand")
    finally:  # a rule that cannot be checked keeps no other from being told
        _tell(store, rules, goes_on=goes_on)


def _tell(store: Store, rules: Rules, *, goes_on: bool) -> None:
    from excam.alerts.beside import webhook_of
    from excam.alerts.deliver import deliver
    from excam.fault import UserError

    webhook = webhook_of(rules)
    for told in deliver(store, webhook, rules.dashboard) if webhook else ():
        if told.problem:
            untold = f"the webhook was not told of {told.alert.rule}: {told.problem}"
            if not goes_on:
                fix = "check its address; the next check tries again, and the dashboard shows the alert meanwhile"
                raise UserError(untold, fix)
            click.echo(printable(untold), err=True)


def _occasion(connection: duckdb.DuckDBPyConnection) -> object:
    """Changes with every commit of a writer, and every few minutes: silence commits nothing, and the untold wait."""
    from excam.alerts.beside import QUIET_SECONDS

    commit = "SELECT token, committed_at::VARCHAR FROM lake.leases WHERE name = 'writer'"
    return connection.execute(commit).fetchone(), time.monotonic() // QUIET_SECONDS
