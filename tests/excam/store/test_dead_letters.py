"""Dead letters: kept with their record, counted again when they fail again, resolved by a verdict."""

from __future__ import annotations

import pytest

from excam.fault import UserError
from excam.store import Committed, Store, dead_letter_id
from tests.excam.store.outcomes import JUDGE, TUNED, dead_letter, put, verdict

PLACE = dead_letter_id("file:///logs/a.parquet", 0, 7)


def test_a_dead_letter_keeps_its_record_and_the_same_id_in_sql_and_python(sqlite_store: Store) -> None:
    assert put(sqlite_store, dead_letter(7)) == Committed(dead_letters=1)
    (letter,) = sqlite_store.dead_letter(PLACE[:6]).to_pylist()
    assert letter["dead_id"] == PLACE
    assert (letter["reason"], letter["record"], letter["tries"]) == ("missing_output", '{"output": null}', 1)


def test_a_record_that_fails_again_raises_its_tries_and_says_the_latest_reason(store: Store) -> None:
    put(store, dead_letter(7))
    put(store, dead_letter(7, reason="engine_died", tries=3))
    (letter,) = store.dead_letters().to_pylist()
    assert (letter["reason"], letter["tries"]) == ("engine_died", 4)
    assert letter["first_at"] < letter["last_at"]


def test_another_judge_has_dead_letters_of_its_own(sqlite_store: Store) -> None:
    put(sqlite_store, dead_letter(7))
    put(sqlite_store, dead_letter(7), judge=TUNED)
    assert sqlite_store.dead_letters().num_rows == 2
    assert sqlite_store.dead_letters(judge_version=JUDGE).num_rows == 1


def test_a_verdict_on_the_same_record_resolves_it_and_a_new_failure_opens_it_again(store: Store) -> None:
    put(store, dead_letter(7), dead_letter(8))
    assert put(store, verdict(7)) == Committed(verdicts=1, resolved=1)
    assert [letter["row"] for letter in store.export_dead_letters().to_pylist()] == [8]
    assert store.dead_letters(include_resolved=True).num_rows == 2
    put(store, dead_letter(7))
    assert {letter["row"] for letter in store.export_dead_letters().to_pylist()} == {7, 8}


def test_a_record_both_judged_and_given_up_in_one_batch_counts_as_judged(sqlite_store: Store) -> None:
    assert put(sqlite_store, dead_letter(7), verdict(7)) == Committed(verdicts=1)


def test_dead_letters_are_filtered_exported_and_resolved_by_hand(sqlite_store: Store) -> None:
    put(sqlite_store, dead_letter(1), dead_letter(2, reason="too_long"), dead_letter(3))
    assert [row["row"] for row in sqlite_store.dead_letters(reason="too_long").to_pylist()] == [2]
    wanted = [dead_letter_id("file:///logs/a.parquet", 0, row) for row in (1, 3)]
    assert [row["row"] for row in sqlite_store.export_dead_letters(wanted).to_pylist()] == [1, 3]
    assert sqlite_store.export_dead_letters([]).num_rows == 0
    with sqlite_store.lease() as lease:
        assert sqlite_store.resolve_dead_letters(lease, wanted, "looked at by hand") == 2
    assert [row["row"] for row in sqlite_store.dead_letters().to_pylist()] == [2]


def test_an_unknown_or_ambiguous_id_is_the_users_mistake(sqlite_store: Store) -> None:
    put(sqlite_store, *(dead_letter(row) for row in range(20)))
    with pytest.raises(UserError, match="no dead letter"):
        sqlite_store.dead_letter("zzz")
    with pytest.raises(UserError, match="the beginning of 20"):
        sqlite_store.dead_letter("")
