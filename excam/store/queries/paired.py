"""Two judges on the pairs that both have judged: the same pairs, so every one of them is its own control."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import duckdb

from excam.stats import effective_size, paired_difference, paired_rates_test
from excam.store.queries.rates import SHARE, Rate, Tally, total
from excam.store.queries.view import View


@dataclass(frozen=True)
class Both:
    """Pairs that two judges judged, by whether the first and whether the second found an error."""

    cells: Mapping[tuple[bool, bool], Tally] = field(default_factory=dict)

    def rates(self) -> tuple[Rate, Rate]:
        return self._rate(0), self._rate(1)

    def _rate(self, judge: int) -> Rate:
        whole = total(self.cells.values())
        wrong = total(tally for found, tally in self.cells.items() if found[judge])
        return Tally(whole.n, wrong.n, whole.weight, whole.squared_weight, wrong.weight).rate()

    def difference(self) -> tuple[float, float, float, float]:
        """Second less first, its interval and p-value; weights enter as the pairs they are worth, as in a rate."""
        both, first, second, neither = (self.cells.get((a, b), Tally()) for a in (True, False) for b in (True, False))
        moved, low, high = paired_difference(*_worth(both, first, second, neither))
        return moved, low, high, paired_rates_test(*_worth(first, second))


def _worth(*tallies: Tally) -> list[float]:
    """How many equally weighted pairs each of these is worth among all of them."""
    whole = total(tallies)
    scale = effective_size(whole.weight, whole.squared_weight) / whole.weight if whole.weight > 0 else 0.0
    return [tally.weight * scale for tally in tallies]


def together(parts: Iterable[Both]) -> Both:
    cells: dict[tuple[bool, bool], list[Tally]] = {}
    for part in parts:
        for found, tally in part.cells.items():
            cells.setdefault(found, []).append(tally)
    return Both({found: total(tallies) for found, tallies in cells.items()})


def judged_by_both(
    connection: duckdb.DuckDBPyConnection, view: View, first: str, second: str
) -> dict[str | None, Both]:
    """The pairs of a view that both judges found to be about culture, by country.

    Which pairs are judged follows from their ids, so a pair that both have was kept with the smaller of its two shares.
    """
    ours, our_wrong, values = view.where(first)
    theirs, their_wrong, more = view.where(second, "other")
    rows = connection.execute(
        f"""
        WITH ours AS (
            SELECT pair_key, country, coalesce({our_wrong}, false) AS a, {SHARE} AS share
            FROM lake.verdicts WHERE {ours} AND status <> 'not_applicable'),
        theirs AS (
            SELECT pair_key, coalesce({their_wrong}, false) AS b, {SHARE} AS other_share
            FROM lake.verdicts WHERE {theirs} AND status <> 'not_applicable'),
        paired AS (SELECT country, a, b, 1 / least(share, other_share) AS weight FROM ours JOIN theirs USING (pair_key))
        SELECT country, a, b, count(*), sum(weight), sum(weight * weight) FROM paired GROUP BY ALL
        """,
        values | more,
    ).fetchall()
    found: dict[str | None, dict[tuple[bool, bool], Tally]] = {}
    for country, a, b, n, weight, squared in rows:
        found.setdefault(country, {})[a, b] = Tally(n, 0, weight, squared)
    return {country: Both(cells) for country, cells in found.items()}
