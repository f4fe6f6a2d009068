"""The gravest reports, and one pair in full."""

from __future__ import annotations

from datetime import timedelta

import pytest

from excam.fault import UserError
from excam.store import Store
from excam.store.queries import Slice, describe, show_pair, worst_pairs
from tests.excam.store.outcomes import JUDGE, START, TUNED, error, put, verdict


def test_the_worst_come_first_and_the_surest_before_the_rest(sqlite_store: Store) -> None:
    put(
        sqlite_store,
        verdict(0, errors=[error(), error(span="again")], score=-10.0, p_error=0.6),
        verdict(1, errors=[error()], score=-5.0, p_error=0.7),
        verdict(2, errors=[error()], score=-5.0, p_error=0.9),
        verdict(3, errors=[error()], score=-5.0, p_error=0.9, country="JP"),
        verdict(4, score=0.1),
    )
    found = sqlite_store.query(worst_pairs, JUDGE, Slice(country="ID"))
    assert [pair.pair_id for pair in found] == ["p0", "p2", "p1"]
    assert [flaw.span for flaw in found[0].errors] == ["left hand", "again"]
    assert [pair.pair_id for pair in sqlite_store.query(worst_pairs, JUDGE, None, 1)] == ["p0"]
    assert sqlite_store.query(worst_pairs, TUNED.judge_version) == []


def test_a_pair_is_shown_with_every_judges_verdict_the_latest_first(store: Store) -> None:
    put(store, verdict(0), verdict(1))
    later = START + timedelta(days=1)
    put(store, verdict(0, errors=[error(), error(span="hand", ordinal=2)], judged_at=later), judge=TUNED)
    pair = store.query(show_pair, "p0")
    assert [(said.judge_version, said.status) for said in pair.verdicts] == [
        (TUNED.judge_version, "error"),
        (JUDGE, "correct"),
    ]
    assert [flaw.span for flaw in pair.verdicts[0].errors] == ["left hand", "hand"]
    assert pair.verdicts[1].errors == []
    assert (pair.logged_at, pair.countries, pair.source) == (START, ["ID"], "file:///logs/a.parquet")


def test_a_pair_the_store_does_not_have_is_the_users_mistake(sqlite_store: Store) -> None:
    with pytest.raises(UserError, match="no pair 'nobody'"):
        sqlite_store.query(show_pair, "nobody")


def test_a_store_describes_itself_empty_or_full(sqlite_store: Store) -> None:
    empty = sqlite_store.query(describe)
    assert (empty.rows["pairs"], empty.first_logged, empty.writer) == (0, None, None)
    put(sqlite_store, verdict(0, errors=[error()]), verdict(3))
    with sqlite_store.lease("score"):
        full = sqlite_store.query(describe)
    assert full.rows["pairs"] == 2
    assert full.rows["errors"] == 1
    assert (full.first_logged, full.last_logged) == (START, START + timedelta(hours=3))
    assert full.writer is not None
