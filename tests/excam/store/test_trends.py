"""Trends: rates that are right, intervals that are honest, judges that are never mixed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from excam.fault import UserError
from excam.stats import rate_difference_test, wilson
from excam.store import Store
from excam.store.queries import By, Slice, TrendRow, list_judges, pick_judge, trends
from excam.store.queries.overview import kinds
from excam.store.queries.reports import list_reports
from excam.store.queries.view import View
from tests.excam.store.outcomes import JUDGE, START, TUNED, error, put, verdict

WEEK = timedelta(days=7)
MONDAY = START.date()


def pairs(first: int, right: int, wrong: int, **changes: Any) -> list[dict[str, Any]]:
    """That many pairs without and with a major error."""
    flaws: list[list[dict[str, Any]]] = [[]] * right + [[error()]] * wrong
    return [
        verdict(
            first + number, **{"logged_at": START, "errors": flaw, "status": "error" if flaw else "correct"} | changes
        )
        for number, flaw in enumerate(flaws)
    ]


@pytest.fixture(scope="module")
def judged(empty_store: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Store]:
    """Indonesia: 2 of 10, then 15 of 20, a gap, then 1 of 1; Japan: 1 of 4, sampled; five pairs not about culture."""
    folder = tmp_path_factory.mktemp("judged")
    with Store.open(f"ducklake:sqlite:{folder}/catalog.sqlite") as store:
        minor = [error(severity="minor", category="dress"), error(category="customs"), error(category="customs")]
        put(
            store,
            *pairs(0, 8, 2),
            *pairs(100, 5, 15, logged_at=START + WEEK),
            *pairs(200, 0, 1, logged_at=START + 5 * WEEK, errors=minor),
            *pairs(300, 2, 0, country="JP", app="chat", sample_share=0.1),
            *pairs(310, 1, 1, country="JP", app="chat", sample_share=1.0),
            *(verdict(400 + number, status="not_applicable", country="ID", logged_at=START) for number in range(5)),
        )
        yield store


def by_group(rows: list[TrendRow]) -> dict[str | None, list[TrendRow]]:
    groups: dict[str | None, list[TrendRow]] = {}
    for row in rows:
        groups.setdefault(row.group, []).append(row)
    return groups


def test_a_rate_counts_errors_among_pairs_about_culture(judged: Store) -> None:
    trend = judged.query(trends, "country", "week")
    indonesia = by_group(trend.rows)["ID"]
    assert [(row.bucket, row.n, row.errors) for row in indonesia] == [
        (MONDAY, 10, 2),
        (MONDAY + WEEK, 20, 15),
        (MONDAY + 5 * WEEK, 1, 1),
    ]
    assert indonesia[0].rate == 0.2
    assert (indonesia[0].low, indonesia[0].high) == pytest.approx(wilson(2, 10))
    assert next(iter(by_group(trend.rows))) == "ID", "the largest group comes first"


def test_a_change_is_told_against_the_week_before_and_not_across_a_gap(judged: Store) -> None:
    first, second, third = by_group(judged.query(trends).rows)["ID"]
    assert first.change is None
    assert second.change == pytest.approx(0.55)
    assert second.p_value == pytest.approx(rate_difference_test(2, 10, 15, 20))
    assert second.p_adjusted == pytest.approx(second.p_value), "the only comparison of this trend"
    assert third.change is None


def test_sampled_pairs_weigh_what_they_stand_for(judged: Store) -> None:
    (japan,) = by_group(judged.query(trends).rows)["JP"]
    assert (japan.n, japan.errors) == (4, 1)
    assert japan.rate == pytest.approx(1 / 22)
    assert japan.n_effective == pytest.approx(22**2 / 202)
    low, high = wilson(japan.rate * japan.n_effective, japan.n_effective)
    assert (japan.low, japan.high) == pytest.approx((low, high))


def test_by_type_and_severity_a_pair_counts_once_for_each_kind(judged: Store) -> None:
    types = by_group(judged.query(trends, By.TYPE, "week").rows)
    assert [(row.n, row.errors) for row in types["customs"]] == [(14, 3), (20, 15), (1, 1)]
    assert [(row.n, row.errors) for row in types["dress"]] == [(14, 0), (20, 0), (1, 1)]
    severities = by_group(judged.query(trends, By.SEVERITY, "week").rows)
    assert [row.errors for row in severities["major"]] == [3, 15, 1]
    assert [row.errors for row in severities["minor"]] == [0, 0, 1]


def test_a_slice_narrows_a_trend(judged: Store) -> None:
    part = Slice(country="ID", since=MONDAY + WEEK, until=MONDAY + 2 * WEEK)
    assert [(row.group, row.n) for row in judged.query(trends, "all", "week", part).rows] == [(None, 20)]
    assert [row.n for row in judged.query(trends, "app", "month", Slice(app="chat")).rows] == [4]
    assert judged.query(trends, "type", "day", Slice(language="xx")).rows == []


@pytest.mark.parametrize(("bucket", "start"), [("day", MONDAY), ("week", MONDAY), ("month", date(2025, 3, 1))])
def test_time_is_cut_into_utc_days_monday_weeks_and_months(judged: Store, bucket: str, start: date) -> None:
    assert judged.query(trends, "all", bucket).rows[0].bucket == start


def test_months_follow_each_other_across_a_year(sqlite_store: Store) -> None:
    for number, month in enumerate([(2024, 12), (2025, 1), (2025, 3)]):
        put(
            sqlite_store, *pairs(10 * number, 4, number, logged_at=START.replace(year=month[0], month=month[1], day=31))
        )
    december, january, march = sqlite_store.query(trends, "all", "month").rows
    assert january.change == pytest.approx(0.2)
    assert (december.change, march.change) == (None, None)


def test_verdicts_of_two_judges_are_never_mixed(sqlite_store: Store) -> None:
    put(sqlite_store, *pairs(0, 3, 1))
    put(sqlite_store, *pairs(0, 1, 3), judge=TUNED)
    latest = sqlite_store.query(trends, "all", "week")
    assert (latest.judge.judge_version, latest.judge.tuned) == (TUNED.judge_version, True)
    assert [(row.n, row.errors) for row in latest.rows] == [(4, 3)]
    earlier = sqlite_store.query(trends, "all", "week", None, JUDGE[:5])
    assert "UNTUNED" in earlier.judge.title
    assert [(row.n, row.errors) for row in earlier.rows] == [(4, 1)]
    assert {judge.judge_version: judge.errors for judge in sqlite_store.query(list_judges)} == {
        JUDGE: 1,
        TUNED.judge_version: 3,
    }


def test_an_empty_store_says_what_to_do_first(sqlite_store: Store) -> None:
    with pytest.raises(UserError, match="no verdicts yet") as refused:
        sqlite_store.query(trends)
    assert "excam score" in refused.value.fix
    with pytest.raises(UserError, match="no judge 'abc'"):
        sqlite_store.query(pick_judge, "abc")


def test_a_judge_that_only_began_is_not_the_one_asked_about(sqlite_store: Store) -> None:
    put(sqlite_store, *pairs(0, 1, 0))
    with sqlite_store.lease() as lease:
        sqlite_store.register_judge(TUNED)
        sqlite_store.start_run(lease, "score", TUNED.judge_version, {})
    assert sqlite_store.query(trends).judge.judge_version == JUDGE


@pytest.mark.parametrize("view", [View(), View(severity="minor"), View(severity="major"), View(category="dress")])
def test_a_kind_of_error_counts_the_pairs_that_the_view_it_leads_to_lists(judged: Store, view: View) -> None:
    found = judged.query(kinds, view)
    views = [(kind, replace(view, category=kind.name)) for kind in found.categories]
    views += [(kind, replace(view, severity=kind.name)) for kind in found.severities]
    assert [kind.pairs for kind, _ in views] == [judged.query(list_reports, led_to).total for _, led_to in views]
