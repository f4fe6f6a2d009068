"""Caps hold by logged hour and country, and what is judged stands for what was not."""

from __future__ import annotations

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.stream.budgets import Budget

HOUR = datetime(2026, 9, 1, 12, tzinfo=UTC)


def row(number: int, minute: float = 59.99, country: str = "ID", **changes: Any) -> dict[str, Any]:
    when = HOUR + timedelta(minutes=minute)
    pair = {"kind": "pending", "pair_id": f"p{number}", "country": country, "logged_at": when, "app": "x"}
    return pair | {"sample_share": 1.0} | changes


def weight(rows: list[dict[str, Any]]) -> float:
    return sum(1 / float(one["sample_share"]) for one in rows)


@given(st.lists(st.integers(0, 60), min_size=1, max_size=8), st.integers(1, 50))
def test_no_hour_exceeds_its_cap_and_the_judged_stand_for_all_that_were_there(batches: list[int], cap: int) -> None:
    budget = Budget(per_hour=cap)
    kept, number = [], 0
    for index, size in enumerate(batches):
        rows = [row(number + one, minute=59.99 * (index + 1) / len(batches)) for one in range(size)]
        number += size
        left, dropped = budget.apply(rows)
        assert len(left) + dropped == size
        kept += left
        budget.load(budget.dump())
    assert len(kept) <= cap
    owed = sum(entry[1] for entry in budget.spent.get("2026-09-01T12", {}).values())
    assert abs(weight(kept) + owed - number) < 1e-6


def test_an_hours_cap_is_given_out_evenly() -> None:
    budget = Budget(per_hour=60)
    early, _ = budget.apply([row(number, minute=9.9) for number in range(100)])
    late, _ = budget.apply([row(number, minute=59.9) for number in range(100, 200)])
    assert (len(early), len(late)) == (10, 50)


def test_countries_are_capped_by_themselves_and_favoured_apps_not_at_all() -> None:
    budget = Budget(per_country=5, always_apps=("vip",))
    rows = [row(number, country="ID") for number in range(20)] + [row(number, country="JP") for number in range(20, 23)]
    rows += [row(number, app="vip") for number in range(30, 40)]
    kept, dropped = budget.apply(rows)
    assert Counter((one["app"], one["country"]) for one in kept) == {("x", "ID"): 5, ("x", "JP"): 3, ("vip", "ID"): 10}
    assert dropped == 15
    assert {one["sample_share"] for one in kept if one["app"] == "x" and one["country"] == "ID"} == {0.25}


def test_what_needs_no_judge_costs_nothing() -> None:
    budget = Budget(per_hour=1)
    kept, dropped = budget.apply([row(number, kind="verdict") for number in range(9)])
    assert (len(kept), dropped) == (9, 0)


def test_hours_of_the_log_count_not_of_the_clock() -> None:
    budget = Budget(per_hour=3)
    rows = [row(number, minute=60 * (number % 4)) for number in range(40)]
    kept, _ = budget.apply(rows)
    assert Counter(f"{one['logged_at']:%H}" for one in kept) == {"12": 3, "13": 3, "14": 3, "15": 1}


@pytest.mark.parametrize("ahead", [48, 500])
def test_an_hour_that_is_still_read_keeps_its_cap_and_its_debt_beside_any_number_of_later_ones(ahead: int) -> None:
    budget = Budget(per_hour=10)
    kept = []
    for batch in range(6):
        rows = [row(1000 * batch + one) for one in range(50)]
        later = [row(1000 * batch + hour, minute=60 * (batch + hour)) for hour in range(100, 100 + ahead)]
        kept += budget.apply(rows + later)[0]
        budget.load(budget.dump())
    behind = [one for one in kept if one["logged_at"] < HOUR + timedelta(hours=1)]
    assert len(behind) == 10
    assert weight(behind) == pytest.approx(50)
    assert budget.spent["2026-09-01T12"]["*"] == [10, 250]


def test_hours_that_were_not_read_for_long_are_forgotten() -> None:
    budget = Budget(per_hour=10)
    for hour in range(60):
        budget.apply([row(hour, minute=60 * hour)])
    assert list(budget.spent) == [f"{HOUR + timedelta(hours=hour):%Y-%m-%dT%H}" for hour in range(11, 60)]


def test_a_clock_that_runs_ahead_leaves_an_hours_cap_given_out_evenly() -> None:
    budget = Budget(per_hour=60)
    budget.apply([row(0, logged_at=datetime.now(UTC) + timedelta(days=3))])
    early, _ = budget.apply([row(number, minute=9.9) for number in range(1, 101)])
    assert len(early) == 10


def test_a_state_stored_before_is_taken_up() -> None:
    budget = Budget(per_hour=10)
    budget.load('{"2026-09-01T11": {"*": [10, 0]}, "2026-09-01T12": {"*": [8, 3]}}')
    kept, dropped = budget.apply([row(number) for number in range(7)])
    assert (len(kept), dropped) == (2, 5)
    assert weight(kept) == pytest.approx(10)
    assert budget.dump() == '{"2026-09-01T11": {"*": [10, 0]}, "2026-09-01T12": {"*": [10, 0]}}'
