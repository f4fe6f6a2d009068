"""The figures of a view at a glance: its totals, its way over time, its countries and its kinds of error."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import duckdb
from pydantic import BaseModel, ConfigDict

from excam.stats import holm
from excam.store.queries.judges import JudgeUse, pick_judge
from excam.store.queries.rates import SHARE, SUMS, Change, Rate, Tally, difference, tallies, total
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


class Overview(Frozen):
    """What the first page shows of a view, from one reading of its verdicts: all of it is of the same moment."""

    summary: Summary
    series: Series
    countries: Countries


Cells = list[tuple[date, str | None, Tally]]
"""Counts by day and, where a series is split, by group."""

Halves = dict[str | None, dict[bool, Tally]]
"""Counts by country, of the earlier half of a period (False) and of the later one (True)."""


def overview(connection: duckdb.DuckDBPyConnection, view: View, fewest: int = FEWEST) -> Overview:
    """Totals, trend and countries of a view. Reading a million verdicts is what costs, so they are read once."""
    judge = pick_judge(connection, view.judge)
    cells, halves = _read(connection, view, judge.judge_version)
    return Overview(
        summary=_summary(connection, view, judge, cells),
        series=_series(judge, "all", None, cells),
        countries=_countries(judge, cells, halves, fewest),
    )


def _read(connection: duckdb.DuckDBPyConnection, view: View, judge_version: str) -> tuple[Cells, Halves]:
    """One reading, counted by day and, beside that, by country in either half of the days there are."""
    where, wrong, values = view.where(judge_version)
    rows = connection.execute(
        f"""
        WITH counted AS MATERIALIZED (
            SELECT logged_on AS day, country, {wrong} AS wrong, {SHARE} AS share, count(*) AS pairs
            FROM lake.verdicts WHERE {where} AND status <> 'not_applicable' GROUP BY ALL),
        halved AS (
            SELECT counted.*, first < last AND day >= first + (last - first + 1)::INTEGER // 2 AS later
            FROM counted, (SELECT min(day) AS first, max(day) AS last FROM counted))
        SELECT GROUPING(day) = 0, day, country, later, {SUMS}
        FROM halved GROUP BY GROUPING SETS ((day), (country, later))
        """,
        values,
    ).fetchall()
    cells: Cells = []
    halves: Halves = {}
    for by_day, day, country, later, *sums in rows:
        if by_day:
            cells.append((day, None, Tally(*sums)))
        else:
            halves.setdefault(country, {})[later] = Tally(*sums)
    return cells, halves


def _summary(connection: duckdb.DuckDBPyConnection, view: View, judge: JudgeUse, cells: Cells) -> Summary:
    """Totals of a view. Dead letters have no country or app, so they are those of the judge, still open."""
    where, values = view.part.where(judge.judge_version)
    dead = "SELECT count(*) FROM lake.dead_letters WHERE judge_version = ? AND resolved_at IS NULL"
    judged = _count(connection, f"SELECT count(*) FROM lake.verdicts WHERE {where}", values)
    rate = total(tally for *_, tally in cells).rate()
    return Summary(
        judge=judge,
        rate=rate,
        judged=judged,
        not_applicable=max(0, judged - rate.n),
        dead_letters=_count(connection, dead, [judge.judge_version]),
        first_day=min((day for day, *_ in cells), default=None),
        last_day=max((day for day, *_ in cells), default=None),
    )


def series(
    connection: duckdb.DuckDBPyConnection, view: View, bucket: Bucket | None = None, by: str | None = None
) -> Series:
    """Rates over time, of all pairs or split; days, weeks or months by how long the view is, unless one is named."""
    judge = pick_judge(connection, view.judge)
    keys = {"day": "logged_on", "group": by if by in SPLITS else "NULL::VARCHAR"}
    found = tallies(connection, view, judge.judge_version, keys)
    return _series(judge, by or "all", bucket, [(day, name, tally) for (day, name), tally in found])


def _series(judge: JudgeUse, by: str, bucket: Bucket | None, cells: Cells) -> Series:
    days = {day for day, *_ in cells}
    if bucket is None:
        length = (max(days) - min(days)).days if days else 0
        bucket = Bucket.DAY if length <= 28 else Bucket.WEEK if length <= 500 else Bucket.MONTH
    starts = {day: _start(day, bucket) for day in days}
    sums: dict[tuple[str, date], tuple[str | None, list[Tally]]] = {}
    for day, name, tally in cells:
        sums.setdefault((name or "", starts[day]), (name, []))[1].append(tally)
    points = [Point(bucket=key[1], group=sums[key][0], rate=total(sums[key][1]).rate()) for key in sorted(sums)]
    return Series(judge=judge, by=by, bucket=bucket, points=points)


def _start(day: date, bucket: Bucket) -> date:
    """The first day of a bucket; weeks begin on Monday."""
    if bucket is Bucket.MONTH:
        return day.replace(day=1)
    return day - timedelta(days=day.weekday()) if bucket is Bucket.WEEK else day


def _countries(judge: JudgeUse, cells: Cells, halves: Halves, fewest: int) -> Countries:
    """Every country of the view, the highest rate that rests on enough pairs first.

    Changes are tested only where both halves have ``fewest`` pairs, and corrected (Holm) for all that were tested.
    """
    first, last = min((day for day, *_ in cells), default=None), max((day for day, *_ in cells), default=None)
    half = first + timedelta(days=((last - first).days + 1) // 2) if first and last and first < last else None
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
    if view.category is None and view.severity is None:
        rows = _kinds(connection, view, judge.judge_version, "category", "severity")
    else:
        rows = _kinds(connection, replace(view, category=None), judge.judge_version, "category")
        rows += _kinds(connection, replace(view, severity=None), judge.judge_version, "severity")
    by_column = {
        column: [Kind(name=name, pairs=pairs) for held, name, pairs in rows if held == column]
        for column in ("category", "severity")
    }
    return Kinds(judge=judge, categories=by_column["category"], severities=by_column["severity"])


def _kinds(
    connection: duckdb.DuckDBPyConnection, view: View, judge_version: str, *columns: str
) -> list[tuple[str, str | None, int]]:
    """Pairs by the values of each of these columns, all from one reading."""
    where, wrong, values = view.where(judge_version)
    sure = f"AND pair_key IN (SELECT pair_key FROM lake.verdicts WHERE {where} AND {wrong})"
    narrowed = sure if view.p_error is not None else ""
    for name in ("category", "severity"):  # one error must be both, as in the view that a kind leads to
        narrowed += f" AND {name} || '' = ${name}" if getattr(view, name) is not None else ""
    named = " ".join(f"WHEN GROUPING({column}) = 0 THEN '{column}'" for column in columns)
    return connection.execute(
        f"""SELECT CASE {named} END, coalesce({", ".join(columns)}) AS name, count(DISTINCT pair_key) AS pairs
            FROM lake.errors WHERE {where} {narrowed}
            GROUP BY GROUPING SETS ({", ".join(f"({column})" for column in columns)}) ORDER BY pairs DESC, name""",
        values,
    ).fetchall()


def _count(connection: duckdb.DuckDBPyConnection, query: str, values: object) -> int:
    row = connection.execute(query, values).fetchone()
    return int(row[0]) if row else 0
