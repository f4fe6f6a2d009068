"""What a rule finds on a day. The same function looks at today and at every day of the past."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, timedelta
from typing import Any
from urllib.parse import urlencode

import duckdb

from excam.alerts.rules import SHARES, Rule
from excam.injection import METADATA_KEY
from excam.stats import holm
from excam.store.queries.judges import pick_judge
from excam.store.queries.rates import Tally, difference, tallies, total
from excam.store.queries.slice import Slice
from excam.store.queries.view import View

Days = dict[date, Tally]


@dataclass(frozen=True)
class Finding:
    """A rule that holds for a subject (a country, an app, a model, or ``all``), in words and with the view to it."""

    rule: str
    subject: str
    message: str
    link: str


def daily(
    connection: duckdb.DuckDBPyConnection, rule: Rule, since: date | None = None, until: date | None = None
) -> dict[str, Days]:
    """What a rule needs to know of each subject, day by day."""
    judge = pick_judge(connection, rule.judge).judge_version
    part = Slice(since=since, until=until, country=rule.country, app=rule.app, model=rule.model)
    if rule.kind in ("dead_letter_share", "no_traffic"):
        lost = rule.kind == "dead_letter_share"
        return {"all": _records(connection, part, judge, lost=lost, whoever=not lost and rule.judge is None)}
    keys = {"subject": rule.by or "'all'", "day": "logged_on"}
    if rule.kind == "speaks_to_judge_share":
        counted = _spoken(connection, part, judge, keys["subject"])
    else:
        counted = tallies(connection, View(part, rule.judge, category=rule.type), judge, keys)
    found: dict[str, Days] = {}
    for (subject, day), tally in counted:
        if subject is not None:
            found.setdefault(subject, {})[day] = tally
    return found


def _spoken(
    connection: duckdb.DuckDBPyConnection, part: Slice, judge: str, subject: str
) -> list[tuple[tuple[Any, ...], Tally]]:
    """Pairs by subject and day, and those of them that screening marked; whoever judged them."""
    where, values = part.where(judge)
    rows = connection.execute(
        f"""
        WITH marked AS (
            SELECT *, $judge AS judge_version, logged_at::DATE AS day, 1 / sample_share AS weight,
                   metadata LIKE '%"{METADATA_KEY}"%' AS spoken
            FROM lake.pairs
        )
        SELECT {subject}, day, count(*), count(*) FILTER (spoken), sum(weight), sum(weight * weight),
               coalesce(sum(weight) FILTER (spoken), 0)
        FROM marked WHERE {where} GROUP BY ALL
        """,
        values,
    ).fetchall()
    return [((name, day), Tally(n, spoken, *weights)) for name, day, n, spoken, *weights in rows]


def _records(connection: duckdb.DuckDBPyConnection, part: Slice, judge: str, *, lost: bool, whoever: bool) -> Days:
    """Records by day: as they were logged or, where lost ones are counted, as they were handled.

    Lost is what is still open: a record that got its verdict later is counted with the others. ``whoever`` takes the
    verdicts of every judge, for traffic is there whoever judged it.
    """
    where, values = part.where(judge) if not lost else ("judge_version = $judge", {"judge": judge})
    day = "judged_at::DATE" if lost else "logged_on"
    verdicts = "(SELECT * REPLACE ($judge AS judge_version) FROM lake.verdicts)" if whoever else "lake.verdicts"
    counted = f"SELECT {day} AS day, count(*) AS n, 0 AS lost FROM {verdicts} WHERE {where} GROUP BY ALL"
    if lost:
        counted += """ UNION ALL SELECT first_at::DATE, count(*), count(*) FROM lake.dead_letters
                       WHERE judge_version = $judge AND resolved_at IS NULL GROUP BY ALL"""
    rows = connection.execute(f"SELECT day, sum(n), sum(lost) FROM ({counted}) GROUP BY ALL", values).fetchall()
    return {day: Tally(int(n), int(lost), float(n), float(n), float(lost)) for day, n, lost in rows}


def findings(rule: Rule, known: dict[str, Days], until: date) -> list[Finding]:
    """What the rule says of the ``days`` before ``until``; of silence, of as many and the one that is not over yet."""
    since = until - timedelta(days=rule.days + (rule.kind == "no_traffic"))
    now = {subject: _within(days, since, until) for subject, days in known.items()}
    if rule.kind == "no_traffic":
        quiet = total(now.values()).n == 0
        return [_finding(rule, "all", f"no record in {_days(rule.days)}", since, until)] if quiet else []
    if rule.kind == "rate_risen":
        return _risen(rule, known, now, since, until)
    found = []
    what = SHARES.get(rule.kind, "of the answers hold an error")
    for subject, tally in sorted(now.items()):
        rate = tally.rate()
        if rate.n >= rule.floor and rate.rate is not None and rule.level is not None and rate.rate >= rule.level:
            told = f"{rate.rate:.1%} {what} ({rate.n:,} in {_days(rule.days)}; the level is {rule.level:.1%})"
            found.append(_finding(rule, subject, told, since, until))
    return found


def _risen(rule: Rule, known: dict[str, Days], now: dict[str, Tally], since: date, until: date) -> list[Finding]:
    """Rises that chance does not explain, with every subject looked at taken into account."""
    tested = []
    for subject, tally in sorted(now.items()):
        before = _within(known[subject], since - timedelta(days=rule.against_days), since)
        if min(tally.n, before.n) < rule.floor:
            continue
        moved = difference(before.rate(), tally.rate())
        if moved is not None:
            tested.append((subject, before.rate().rate, tally.rate(), moved))
    adjusted = holm([moved[3] for *_, moved in tested])
    return [
        _finding(
            rule,
            subject,
            f"errors rose from {before:.1%} to {rate.rate:.1%} ({rate.n:,} answers in {_days(rule.days)}, p = {p:.2g})",
            since,
            until,
        )
        for (subject, before, rate, moved), p in zip(tested, adjusted, strict=True)
        if moved[0] > 0 and p < rule.p
    ]


def _within(days: Days, since: date, until: date) -> Tally:
    return total(tally for day, tally in days.items() if since <= day < until)


def _days(count: int) -> str:
    return "1 day" if count == 1 else f"{count} days"


def _finding(rule: Rule, subject: str, told: str, since: date, until: date) -> Finding:
    chosen = {name: getattr(rule, name) for name in ("country", "app", "model", "type", "judge")}
    if rule.by:
        chosen[rule.by] = subject
    asked = {name: value for name, value in chosen.items() if value} | {"since": since, "until": until}
    page = "/runs" if rule.kind == "dead_letter_share" else f"/?{urlencode(asked)}"
    return Finding(rule.name, subject, f"{rule.name}{f' ({subject})' if rule.by else ''}: {told}", page)
