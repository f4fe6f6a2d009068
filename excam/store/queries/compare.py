"""Two models, apps or judges side by side on the same days, country by country."""

from __future__ import annotations

from dataclasses import replace
from enum import StrEnum

import duckdb
from pydantic import BaseModel, ConfigDict

from excam.store.queries.judges import JudgeUse, pick_judge
from excam.store.queries.overview import FEWEST, corrected
from excam.store.queries.rates import Change, Rate, Tally, difference, tallies, total
from excam.store.queries.view import View


class Side(StrEnum):
    """What the two sides of a comparison are."""

    MODEL = "model"
    APP = "app"
    JUDGE = "judge"


class Compared(BaseModel):
    """One country (None: pairs about no known country) on both sides; no change where either has too few pairs."""

    model_config = ConfigDict(frozen=True)

    country: str | None
    a: Rate
    b: Rate
    change: Change | None


class Comparison(BaseModel):
    """``overall`` is tested by itself; p-values of the countries are corrected for how many there are."""

    model_config = ConfigDict(frozen=True)

    side: Side
    a: str
    b: str
    fewest: int
    overall: Compared
    countries: list[Compared]


def compare(
    connection: duckdb.DuckDBPyConnection, view: View, side: Side, a: str, b: str, fewest: int = FEWEST
) -> Comparison:
    """B less A, overall and by country."""
    first, second = (_by_country(connection, view, side, name) for name in (a, b))
    rates = {name: (first.get(name, Tally()).rate(), second.get(name, Tally()).rate()) for name in {*first, *second}}
    moved = {
        name: found
        for name, (one, other) in rates.items()
        if min(one.n, other.n) >= fewest and (found := difference(one, other))
    }
    changes = corrected(moved)
    rows = [Compared(country=name, a=one, b=other, change=changes.get(name)) for name, (one, other) in rates.items()]
    rows.sort(key=lambda row: (row.change.p_value if row.change else 2.0, -(row.a.n + row.b.n), row.country or ""))
    one, other = total(first.values()).rate(), total(second.values()).rate()
    found = difference(one, other)
    overall = Compared(country=None, a=one, b=other, change=corrected({None: found})[None] if found else None)
    return Comparison(side=side, a=a, b=b, fewest=fewest, overall=overall, countries=rows)


def _by_country(connection: duckdb.DuckDBPyConnection, view: View, side: Side, name: str) -> dict[str | None, Tally]:
    if side is Side.JUDGE:
        view = replace(view, judge=name)
    elif side is Side.APP:
        view = replace(view, part=replace(view.part, app=name))
    else:
        view = replace(view, part=replace(view.part, model=name))
    judge = pick_judge(connection, view.judge)
    return {country: tally for (country,), tally in tallies(connection, view, judge.judge_version, {"c": "country"})}


def choices(connection: duckdb.DuckDBPyConnection, judge: str | JudgeUse | None = None) -> dict[str, list[str]]:
    """What the filters offer: every country, language, app and model among this judge's verdicts, commonest first."""
    version = pick_judge(connection, judge).judge_version
    rows = connection.execute(
        """
        SELECT place, coalesce(country, language, app, model) AS name
        FROM (SELECT country, language, app, model, count(*) AS pairs,
                     GROUPING(language, app, model) AS place FROM lake.verdicts
              WHERE judge_version = ? AND status <> 'not_applicable'
              GROUP BY GROUPING SETS ((country), (language), (app), (model)))
        WHERE name IS NOT NULL QUALIFY row_number() OVER (PARTITION BY place ORDER BY pairs DESC, name) <= 300
        ORDER BY pairs DESC, name
        """,
        [version],
    ).fetchall()
    # The bits of GROUPING say which of the three is left out of a group: all of them where it is a country's.
    places = {"country": 0b111, "language": 0b011, "app": 0b101, "model": 0b110}
    return {name: [value for at, value in rows if at == place] for name, place in places.items()}
