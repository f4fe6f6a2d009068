"""Rates of a view, split any way: the one place where verdicts are counted for the dashboard and for alerts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import duckdb
from pydantic import BaseModel, ConfigDict

from excam.stats import effective_size, rate_difference_test, weighted_wilson
from excam.store.queries.view import View


class Rate(BaseModel):
    """Of ``n`` judged pairs that are about culture, the share with an error and its 95 % interval.

    With n = 0 nothing is known: the rate is None and the interval is all of 0 to 1.
    """

    model_config = ConfigDict(frozen=True)

    n: int
    errors: int
    n_effective: float
    rate: float | None
    low: float
    high: float


class Change(BaseModel):
    """A difference of two rates (the second less the first), its 95 % interval and how likely chance alone makes it."""

    model_config = ConfigDict(frozen=True)

    difference: float
    low: float
    high: float
    p_value: float
    p_adjusted: float


@dataclass(frozen=True)
class Tally:
    """Counts that can be added up: pairs, pairs with an error, and the weights sampling gave them."""

    n: int = 0
    errors: int = 0
    weight: float = 0.0
    squared_weight: float = 0.0
    error_weight: float = 0.0

    def rate(self) -> Rate:
        low, high = weighted_wilson(min(self.error_weight, self.weight), self.weight, self.squared_weight)
        share = min(1.0, self.error_weight / self.weight) if self.weight > 0 else None
        size = effective_size(self.weight, self.squared_weight)
        return Rate(n=self.n, errors=self.errors, n_effective=size, rate=share, low=low, high=high)


def total(tallies: Iterable[Tally]) -> Tally:
    n = errors = 0
    weight = squared_weight = error_weight = 0.0
    for tally in tallies:
        n += tally.n
        errors += tally.errors
        weight += tally.weight
        squared_weight += tally.squared_weight
        error_weight += tally.error_weight
    return Tally(n, errors, weight, squared_weight, error_weight)


def difference(first: Rate, second: Rate) -> tuple[float, float, float, float] | None:
    """Second less first, its interval (Newcombe's, from the two Wilson intervals) and p-value; None without pairs."""
    if first.rate is None or second.rate is None:
        return None
    n1, n2 = first.n_effective, second.n_effective
    p_value = rate_difference_test(first.rate * n1, n1, second.rate * n2, n2)
    moved = second.rate - first.rate
    down = ((second.rate - second.low) ** 2 + (first.high - first.rate) ** 2) ** 0.5
    up = ((second.high - second.rate) ** 2 + (first.rate - first.low) ** 2) ** 0.5
    return moved, moved - down, moved + up, p_value


SHARE = "CASE WHEN sample_share > 0 THEN sample_share ELSE 1 END"

# The fields of a tally, of rows with ``pairs`` of one ``share`` that are all ``wrong`` or all not.
SUMS = """sum(pairs)::BIGINT, coalesce(sum(pairs) FILTER (wrong), 0)::BIGINT, sum(pairs / share),
    sum(pairs / (share * share)), coalesce(sum(pairs / share) FILTER (wrong), 0.0)"""


def tallies(
    connection: duckdb.DuckDBPyConnection,
    view: View,
    judge_version: str,
    keys: Mapping[str, str] | None = None,
    values: Mapping[str, Any] | None = None,
) -> list[tuple[tuple[Any, ...], Tally]]:
    """Count a view's pairs for each combination of ``keys`` (a name and an SQL expression each)."""
    where, wrong, parameters = view.where(judge_version)
    keys = keys or {}
    made = "".join(f'{expression} AS "{name}", ' for name, expression in keys.items())
    named = "".join(f'"{name}", ' for name in keys)
    rows = connection.execute(
        f"""
        WITH counted AS (
            SELECT {made}{wrong} AS wrong, {SHARE} AS share, count(*) AS pairs
            FROM lake.verdicts WHERE {where} AND status <> 'not_applicable' GROUP BY ALL)
        SELECT {named}{SUMS} FROM counted GROUP BY ALL
        """,
        parameters | dict(values or {}),
    ).fetchall()
    return [(tuple(row[:-5]), Tally(*row[-5:])) for row in rows if row[-5]]
