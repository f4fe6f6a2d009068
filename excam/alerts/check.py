"""Check rules on a store, and keep what fires and clears.

An alert's events are rows of the store: the last one says whether it stands. A check that found something new touches
one row, so that of two checks at the same time the second reads what the first has fired.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

import duckdb
from pydantic import BaseModel, ConfigDict

from excam.alerts.findings import Finding, daily, findings
from excam.alerts.rules import Rule, Rules
from excam.fault import UserError
from excam.store.connection import transact
from excam.store.lease import meet

FIRED, CLEARED = "fired", "cleared"
BROKEN = "broken rule"  # the subject of the alert that a rule is not checked

FENCE = "alerts"  # where several checkers meet over what must happen once

LAST_DELIVERY = """SELECT * FROM lake.alert_deliveries QUALIFY row_number() OVER (
    PARTITION BY alert, event, happened_at ORDER BY noted_at DESC) = 1"""


class Alert(BaseModel):
    """An alert that stands, or an event of one; ``problem`` says why the webhook could not be told of it."""

    model_config = ConfigDict(frozen=True)

    rule: str
    subject: str
    event: str
    message: str
    link: str
    happened_at: datetime
    problem: str | None = None


@dataclass(frozen=True)
class Firing:
    """How often a rule would have fired, and on which days first."""

    rule: str
    fired: int
    days: list[tuple[date, str]]


def standing(connection: duckdb.DuckDBPyConnection) -> list[Alert]:
    """Alerts that have fired and not cleared, the latest first."""
    rows = connection.execute(
        """SELECT alert, rule, subject, event, message, link, epoch_us(happened_at) FROM lake.alerts
           QUALIFY row_number() OVER (PARTITION BY rule, subject ORDER BY happened_at DESC) = 1"""
    ).fetchall()
    fired = [row for row in rows if row[3] == FIRED]
    problems = _problems(connection) if fired else {}
    alerts = [
        Alert(
            rule=rule,
            subject=subject,
            event=event,
            message=message,
            link=link,
            happened_at=moment(micros),
            problem=problems.get((alert, micros)),
        )
        for alert, rule, subject, event, message, link, micros in fired
    ]
    return sorted(alerts, key=lambda alert: alert.happened_at, reverse=True)


def _problems(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, int], str]:
    """Why the webhook was not told of an alert that fired, by the alert and when."""
    rows = connection.execute(
        f"SELECT alert, epoch_us(happened_at), problem FROM ({LAST_DELIVERY}) WHERE event = '{FIRED}'"
    ).fetchall()
    return {(alert, micros): problem for alert, micros, problem in rows if problem}


def moment(microseconds: int) -> datetime:
    """A stored moment to the microsecond: it is part of an event's identity."""
    return datetime.fromtimestamp(0, UTC) + timedelta(microseconds=microseconds)


def check(connection: duckdb.DuckDBPyConnection, rules: Rules, today: date | None = None) -> list[Alert]:
    """Look at every rule and keep what is new: alerts that now fire, and those that stood and no longer hold.

    A store into which nothing was judged yet has nothing to say, not even that traffic stopped: it never began. A rule
    that cannot be checked, such as one about a judge that the store does not know, is told of after all others were.
    A rule that was set aside for a mistake in it is an alert of its own, and what it had fired before stands.
    """
    if not _begun(connection):
        return []
    until = (today or datetime.now(UTC).date()) + timedelta(days=1)
    found = [Finding(name, BROKEN, f"not checked: {fault.message}", "/") for name, fault in rules.broken.items()]
    unchecked: dict[str, UserError] = {}
    for rule in rules.rules:
        try:
            found += _look(connection, rule, until)
        except UserError as error:
            unchecked[rule.name] = error

    unknown = {*unchecked, *rules.broken} - {rule.name for rule in rules.rules if rule.name not in unchecked}

    def new() -> list[Alert]:
        stood = (alert for alert in standing(connection) if alert.subject == BROKEN or alert.rule not in unknown)
        return _events(found, stood, datetime.now(UTC))

    def keep() -> list[Alert]:
        meet(connection, FENCE)
        events = new()
        for event in events:
            connection.execute(
                "INSERT INTO lake.alerts VALUES (?, ?, ?, ?, ?, ?, ?)",
                [f"{event.rule}/{event.subject}", event.rule, event.subject, event.event, event.message, event.link,
                 event.happened_at],
            )  # fmt: skip
        return events

    # Where there is nothing new nothing is written, so that a check costs a writer beside it nothing.
    events = transact(connection, keep) if new() else []
    for name, fault in unchecked.items():
        raise UserError(f"rule {name!r} cannot be checked: {fault.message}", fault.fix) from fault
    return events


def _begun(connection: duckdb.DuckDBPyConnection) -> bool:
    """Whether any record ever had an outcome in this store."""
    tables = ("verdicts", "dead_letters")
    return any(connection.execute(f"SELECT 1 FROM lake.{table} LIMIT 1").fetchone() for table in tables)


def _look(connection: duckdb.DuckDBPyConnection, rule: Rule, until: date) -> list[Finding]:
    since = until - timedelta(days=rule.days + rule.against_days)
    return findings(rule, daily(connection, rule, since, until), until)


def _events(found: Iterable[Finding], stood: Iterable[Alert], now: datetime) -> list[Alert]:
    holds = {(finding.rule, finding.subject): finding for finding in found}
    known = {(alert.rule, alert.subject): alert for alert in stood}
    fired = [
        Alert(rule=f.rule, subject=f.subject, event=FIRED, message=f.message, link=f.link, happened_at=now)
        for name, f in holds.items()
        if name not in known
    ]
    cleared = [
        alert.model_copy(update={"event": CLEARED, "happened_at": now})
        for name, alert in known.items()
        if name not in holds
    ]
    return fired + cleared


def replay(connection: duckdb.DuckDBPyConnection, rules: Rules, today: date | None = None) -> list[Firing]:
    """Go through the past day by day, until today, and say how often each rule would have fired.

    Rules are looked at as a day ends; silence as it begins, before a record of that day ends it. Silence before the
    first record is nothing new.
    """
    last = today or datetime.now(UTC).date()
    told = []
    for rule in rules.rules:
        known = daily(connection, rule, until=last + timedelta(days=1))
        silence = rule.kind == "no_traffic"
        before = {"all"} if silence else set()
        fired: list[tuple[date, str]] = []
        for day in _days_of_change(rule, {day for found in known.values() for day in found}, last):
            seen = {"all": {at: tally for at, tally in known["all"].items() if at < day}} if silence else known
            holds = {f.subject: f.message for f in findings(rule, seen, day + timedelta(days=1))}
            fired += [(day, message) for subject, message in holds.items() if subject not in before]
            before = set(holds)
        told.append(Firing(rule.name, len(fired), fired))
    return told


def _days_of_change(rule: Rule, days: Iterable[date], last: date) -> list[date]:
    """Days on which a rule may say something new: those that look back on a record, and the first that no longer does.

    On all others it says what it said the day before, and there are many where one clock had stopped in 2000.
    """
    reach = range(rule.days + rule.against_days + 1)
    return sorted({day for at in days for after in reach if (day := at + timedelta(days=after)) <= last})
