"""``excam alerts``: be told when a rate is too high, rises, or the traffic stops."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime
from pathlib import Path
from time import sleep
from typing import TYPE_CHECKING

import click

from excam.cli.aside import aside
from excam.cli.numbers import Within
from excam.cli.options import json_option, store_option
from excam.cli.output import print_json
from excam.cli.paths import LocalPath
from excam.cli.printable import printable

if TYPE_CHECKING:
    import duckdb

    from excam.alerts.rules import Rules
    from excam.store import Store

rules_option = click.option(
    "--rules",
    "file",
    type=LocalPath(dir_okay=False),
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
@click.option("--follow", type=Within(1), metavar="SECONDS", help="Look so often for commits, and go on.")
@json_option
def check(file: Path, store: str, follow: float | None, as_json: bool) -> None:
    """Check every rule; each alert fires once and clears once, goes to the webhook and is kept in the store.

    The webhook's address stands in the file or, better, in EXCAM_ALERT_WEBHOOK. Runs check by themselves after every
    commit where EXCAM_ALERT_RULES names the file; with --follow this goes on until Ctrl-C and does it from beside, at
    the turn of the day too. Where nothing was judged yet, or there is no store yet, nothing fires and that is no
    failure. A rule with a mistake in it is one: it is told of as an alert is, and all others are checked.
    """
    from excam.alerts.rules import Rules
    from excam.cli import tell

    rules = Rules.load_sound(file)
    for fault in rules.broken.values():
        tell(fault)
    found = _open(store, follow)
    if found is not None:
        with found as opened:
            if follow is None:
                try:
                    _check(opened, rules, _today(), as_json)
                finally:  # a rule that cannot be checked keeps no other from being told
                    _tell_webhook(opened, rules)
            else:
                _follow(opened, rules, follow, as_json)
    elif as_json:
        print_json([])
    if rules.broken:
        sys.exit(2)


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


def _open(store: str, follow: float | None) -> Store | None:
    """The store, waited for by whoever follows it: a check that a timer starts may well come before the first run."""
    from excam.store import NoStoreError, Store

    told = False
    while True:
        try:
            return Store.open(store, create=False)
        except NoStoreError as error:
            if not told:
                aside(f"{error.message} yet: nothing to check")
            told = True
        if follow is None:
            return None
        sleep(follow)


def _follow(store: Store, rules: Rules, pause: float, as_json: bool) -> None:
    """Check after every commit, and as a day begins: silence makes no commit. What cannot be done ends nothing."""
    checked = None
    while True:
        now = (store.query(_last_commit), _today())
        if now != checked:
            checked = now
            with _going_on():
                _check(store, rules, now[1], as_json)
        with _going_on():
            _tell_webhook(store, rules)
        sleep(pause)


@contextmanager
def _going_on() -> Iterator[None]:
    from excam.cli import tell
    from excam.fault import UserError

    try:
        yield
    except UserError as error:
        tell(error)


def _today() -> date:
    return datetime.now(UTC).date()


def _check(store: Store, rules: Rules, today: date, as_json: bool) -> None:
    from excam.alerts.check import check as run
    from excam.alerts.check import standing

    events = store.query(run, rules, today)
    if as_json:
        print_json([event.model_dump(mode="json") for event in events])
        sys.stdout.flush()  # whoever reads the other end of a pipe is not kept waiting
    else:
        for event in events:
            click.echo(f"{event.event}: {printable(event.message)}")
        click.echo(f"{len(store.query(standing))} alerts stand")


def _tell_webhook(store: Store, rules: Rules) -> None:
    """Send what is untold, also of checks before this one."""
    from excam.alerts.beside import webhook_of
    from excam.alerts.deliver import deliver
    from excam.fault import UserError

    webhook = webhook_of(rules)
    for told in deliver(store, webhook, rules.dashboard) if webhook else ():
        if told.problem:
            fix = "check its address; the next check tries again, and the dashboard shows the alert meanwhile"
            raise UserError(f"the webhook was not told of {told.alert.rule}: {told.problem}", fix)


def _last_commit(connection: duckdb.DuckDBPyConnection) -> object:
    """Changes with every commit of a writer."""
    return connection.execute("SELECT token, committed_at::VARCHAR FROM lake.leases WHERE name = 'writer'").fetchone()
