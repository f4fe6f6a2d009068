"""Two models, apps or judges side by side on the same days, country by country."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import duckdb
from pydantic import BaseModel, ConfigDict

from excam.store.queries.judges import JudgeUse, pick_judge
from excam.store.queries.overview import FEWEST, corrected
from excam.store.queries.paired import Both, judged_by_both, together
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
    """``overall`` is tested by itself; p-values of the countries are corrected for how many there are.

    ``both`` is how many pairs two judges have both judged: if any, only these are compared, pair by pair.
    """

    model_config = ConfigDict(frozen=True)

    side: Side
    a: str
    b: str
    both: int | None
    fewest: int
    overall: Compared
    countries: list[Compared]


def compare(
    connection: duckdb.DuckDBPyConnection, view: View, side: Side, a: str, b: str, fewest: int = FEWEST
) -> Comparison:
    """B less A, overall and by country; of two judges on the pairs that both have judged, if there are any."""
    shared: dict[str | None, Both] = {}
    if side is Side.JUDGE:
        first, second = (pick_judge(connection, name).judge_version for name in (a, b))
        shared = judged_by_both(connection, view, first, second)
    whole, parts = (together(shared.values()), shared) if shared else _apart(connection, view, side, a, b)
    rates = {name: part.rates() for name, part in parts.items()}
    moved = {
        name: found
        for name, (one, other) in rates.items()
        if min(one.n, other.n) >= fewest and (found := parts[name].difference())
    }
    changes = corrected(moved)
    rows = [Compared(country=name, a=one, b=other, change=changes.get(name)) for name, (one, other) in rates.items()]
    rows.sort(key=lambda row: (row.change.p_value if row.change else 2.0, -(row.a.n + row.b.n), row.country or ""))
    one, other = whole.rates()
    found = whole.difference()
    overall = Compared(country=None, a=one, b=other, change=corrected({None: found})[None] if found else None)
    both = overall.a.n if shared else 0
    return Comparison(
        side=side, a=a, b=b, both=both if side is Side.JUDGE else None, fewest=fewest, overall=overall, countries=rows
    )


@dataclass(frozen=True)
class Apart:
    """The pairs of either side, which are not the same pairs."""

    a: Tally
    b: Tally

    def rates(self) -> tuple[Rate, Rate]:
        return self.a.rate(), self.b.rate()

    def difference(self) -> tuple[float, float, float, float] | None:
        return difference(*self.rates())


def _apart(
    connection: duckdb.DuckDBPyConnection, view: View, side: Side, a: str, b: str
) -> tuple[Apart, dict[str | None, Apart]]:
    first, second = (_by_country(connection, view, side, name) for name in (a, b))
    parts = {name: Apart(first.get(name, Tally()), second.get(name, Tally())) for name in {*first, *second}}
    return Apart(total(first.values()), total(second.values())), parts


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
