"""The figures of a view at a glance: its totals, its way over time, its countries and its kinds of error."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import duckdb
from pydantic import BaseModel, ConfigDict

from excam.stats import holm
from excam.store.queries.judges import JudgeUse, pick_judge
from excam.store.queries.rates import Change, Rate, Tally, difference, span_of, tallies, total
from excam.store.queries.trends import Bucket
from excam.store.queries.view import View

FEWEST = 30
"""Pairs from which a country's rate is shown as a colour: below, the interval is wider than any message."""

SPLITS = ("country", "language", "app", "model")


class Frozen(BaseModel):
    model_config = ConfigDict(frozen=True)


class Summary(Frozen):
    """The head of the page: what was judged, what was left out and why, and the rate of the rest."""

    judge: JudgeUse
    rate: Rate
    judged: int
    not_applicable: int
    dead_letters: int
    first_day: date | None
    last_day: date | None


class Point(Frozen):
    """One rate of a series: of the days from ``bucket`` on, for one group where the series is split."""

    bucket: date
    group: str | None
    rate: Rate


class Series(Frozen):
    judge: JudgeUse
    by: str
    bucket: Bucket
    points: list[Point]


class CountryRate(Frozen):
    """A country's rate and how it moved: the later half of the period against the earlier half."""

    country: str | None
    rate: Rate
    enough: bool
    change: Change | None


class Countries(Frozen):
    judge: JudgeUse
    fewest: int
    half: date | None
    countries: list[CountryRate]


class Kind(Frozen):
    """How many pairs hold an error of this kind; a pair with two kinds is in both."""

    name: str | None
    pairs: int


class Kinds(Frozen):
    judge: JudgeUse
    categories: list[Kind]
    severities: list[Kind]


def summarise(connection: duckdb.DuckDBPyConnection, view: View) -> Summary:
    """Totals of a view. Dead letters have no country or app, so they are those of the judge, still open."""
    judge = pick_judge(connection, view.judge)
    where, values = view.part.where(judge.judge_version)
    dead = "SELECT count(*) FROM lake.dead_letters WHERE judge_version = ? AND resolved_at IS NULL"
    rate = total(tally for _, tally in tallies(connection, view, judge.judge_version)).rate()
    judged, first, last = connection.execute(
        f"""SELECT count(*), min(logged_on) FILTER (status <> 'not_applicable'),
                   max(logged_on) FILTER (status <> 'not_applicable') FROM lake.verdicts WHERE {where}""",
        values,
    ).fetchall()[0]
    return Summary(
        judge=judge,
        rate=rate,
        judged=judged,
        not_applicable=max(0, judged - rate.n),
        dead_letters=_count(connection, dead, [judge.judge_version]),
        first_day=first,
        last_day=last,
    )


def series(
    connection: duckdb.DuckDBPyConnection, view: View, bucket: Bucket | None = None, by: str | None = None
) -> Series:
    """Rates over time, of all pairs or split; days, weeks or months by how long the view is, unless one is named."""
    judge = pick_judge(connection, view.judge)
    if bucket is None:
        days = span_of(connection, view, judge.judge_version)
        length = (days[1] - days[0]).days if days else 0
        bucket = Bucket.DAY if length <= 28 else Bucket.WEEK if length <= 500 else Bucket.MONTH
    group = by if by in SPLITS else "NULL::VARCHAR"
    keys = {"bucket": f"date_trunc('{bucket.value}', logged_on)::DATE", "group": group}
    found = tallies(connection, view, judge.judge_version, keys)
    found.sort(key=lambda item: (item[0][1] or "", item[0][0]))
    points = [Point(bucket=day, group=name, rate=tally.rate()) for (day, name), tally in found]
    return Series(judge=judge, by=by or "all", bucket=bucket, points=points)


def countries(connection: duckdb.DuckDBPyConnection, view: View, fewest: int = FEWEST) -> Countries:
    """Every country of the view, the highest rate that rests on enough pairs first.

    Changes are tested only where both halves have ``fewest`` pairs, and corrected (Holm) for all that were tested.
    """
    judge = pick_judge(connection, view.judge)
    days = span_of(connection, view, judge.judge_version)
    half = days[0] + timedelta(days=((days[1] - days[0]).days + 1) // 2) if days and days[0] < days[1] else None
    later = "logged_on >= $half::DATE" if half else "true"
    values = {"half": half.isoformat()} if half else {}
    halves: dict[str | None, dict[bool, Tally]] = {}
    for (name, is_later), tally in tallies(
        connection, view, judge.judge_version, {"country": "country", "later": later}, values
    ):
        halves.setdefault(name, {})[is_later] = tally
    moved = {
        name: found
        for name, parts in halves.items()
        if all(part in parts and parts[part].n >= fewest for part in (False, True))
        and (found := difference(parts[False].rate(), parts[True].rate()))
    }
    changes = corrected(moved)
    rows = []
    for name, parts in halves.items():
        rate = total(parts.values()).rate()
        rows.append(CountryRate(country=name, rate=rate, enough=rate.n >= fewest, change=changes.get(name)))
    rows.sort(key=lambda row: (not row.enough, -(row.rate.rate or 0.0), -row.rate.n, row.country or ""))
    return Countries(judge=judge, fewest=fewest, half=half, countries=rows)


def corrected(moved: dict[str | None, tuple[float, float, float, float]]) -> dict[str | None, Change]:
    """Differences as changes, their p-values corrected for how many there are."""
    adjusted = holm([found[3] for found in moved.values()])
    return {
        name: Change(difference=found[0], low=found[1], high=found[2], p_value=found[3], p_adjusted=p)
        for (name, found), p in zip(moved.items(), adjusted, strict=True)
    }


def kinds(connection: duckdb.DuckDBPyConnection, view: View) -> Kinds:
    """Pairs with errors by category and by severity; each list leaves its own filter aside, to show the others too."""
    judge = pick_judge(connection, view.judge)
    return Kinds(
        judge=judge,
        categories=_kinds(connection, view, judge.judge_version, "category"),
        severities=_kinds(connection, view, judge.judge_version, "severity"),
    )


def _kinds(connection: duckdb.DuckDBPyConnection, view: View, judge_version: str, column: str) -> list[Kind]:
    aside = replace(view, category=None) if column == "category" else replace(view, severity=None)
    where, wrong, values = aside.where(judge_version)
    sure = f"AND pair_key IN (SELECT pair_key FROM lake.verdicts WHERE {where} AND {wrong})"
    narrowed = sure if aside.p_error is not None or aside.category or aside.severity else ""
    rows = connection.execute(
        f"""SELECT {column} AS name, count(DISTINCT pair_key) AS pairs FROM lake.errors
            WHERE {where} {narrowed} GROUP BY ALL ORDER BY pairs DESC, name""",
        values,
    ).fetchall()
    return [Kind(name=name, pairs=pairs) for name, pairs in rows]


def _count(connection: duckdb.DuckDBPyConnection, query: str, values: object) -> int:
    row = connection.execute(query, values).fetchone()
    return int(row[0]) if row else 0
