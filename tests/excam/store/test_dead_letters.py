"""Dead letters: kept with their record, counted again when they fail again, resolved by a verdict."""

from __future__ import annotations

from typing import Any

import pytest

from excam.fault import UserError
from excam.store import Committed, Store
from excam.store.replays import replays, request_replay
from tests.excam.store.outcomes import JUDGE, TUNED, dead_letter, open_letters, place_id, put, verdict

PLACE = place_id(7)


def given_up(number: int, **changes: Any) -> dict[str, Any]:
    """Pair ``p<number>``, for which no judge was there."""
    pair = verdict(number, **changes)
    kept = {"stage": "judge", "reason": "judge_unreachable", "record": f"the record of {pair['pair_id']}"}
    return dead_letter(number) | {name: pair[name] for name in ("source", "row", "pair_id", "content_hash")} | kept


def kept(store: Store) -> dict[str | None, tuple[str, int]]:
    """The record and the tries of every open dead letter, by its pair."""
    found = open_letters(store)
    assert len({letter["pair_id"] for letter in found}) == len(found)
    return {letter["pair_id"]: (letter["record"], letter["tries"]) for letter in found}


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
    assert put(sqlite_store, verdict(7), judge=TUNED) == Committed(verdicts=1, resolved=1)
    assert [letter["judge_version"] for letter in open_letters(sqlite_store)] == [JUDGE]


def test_other_pairs_of_a_file_written_anew_neither_resolve_nor_overwrite_those_at_their_places(store: Store) -> None:
    put(store, given_up(1), given_up(2))
    assert put(store, verdict(11, row=1), given_up(12, row=2)) == Committed(verdicts=1, dead_letters=1)
    assert kept(store) == {name: (f"the record of {name}", 1) for name in ("p1", "p2", "p12")}


def test_a_pair_has_one_dead_letter_wherever_it_fails_and_a_verdict_anywhere_resolves_it(store: Store) -> None:
    put(store, given_up(1, source="staging/run-1/pairs.parquet"))
    put(store, given_up(1, source="staging/run-2/pairs.parquet"))
    assert kept(store) == {"p1": ("the record of p1", 2)}
    assert put(store, verdict(1, source="staging/run-3/pairs.parquet")) == Committed(verdicts=1, resolved=1)


def test_a_verdict_on_another_text_of_its_pair_id_leaves_a_dead_letter_open(sqlite_store: Store) -> None:
    put(sqlite_store, verdict(0), verdict(0, row=9, output="With the right hand."))
    assert put(sqlite_store, verdict(0, row=9)) == Committed(known=1)
    assert "With the right hand." in kept(sqlite_store)["p0"][0]


def test_a_replayed_record_keeps_its_letter_even_one_that_an_earlier_version_named_by_its_place(
    sqlite_store: Store,
) -> None:
    put(sqlite_store, given_up(7))
    sqlite_store.query(lambda connection: connection.execute("UPDATE lake.dead_letters SET dead_id = ?", [PLACE]))
    assert sqlite_store.query(request_replay, [PLACE], "Ana") == 1
    put(sqlite_store, given_up(7) | {"replay_of": PLACE})
    assert kept(sqlite_store) == {"p7": ("the record of p7", 2)}
    assert [one.state for one in sqlite_store.query(replays)] == ["failed"]
    put(sqlite_store, dead_letter(7, stage="map", replay_of=PLACE))
    assert kept(sqlite_store) == {None: ('{"output": null}', 3)}
    mended = verdict(7, pair_id="under another name", replay_of=PLACE)
    assert put(sqlite_store, mended) == Committed(verdicts=1, resolved=1)
    assert [one.state for one in sqlite_store.query(replays)] == ["judged"]


def test_a_verdict_on_the_same_record_resolves_it_and_a_new_failure_opens_it_again(store: Store) -> None:
    put(store, dead_letter(7), dead_letter(8))
    assert put(store, verdict(7)) == Committed(verdicts=1, resolved=1)
    assert [letter["row"] for letter in open_letters(store)] == [8]
    assert store.dead_letters(include_resolved=True).num_rows == 2
    put(store, dead_letter(7))
    assert {letter["row"] for letter in open_letters(store)} == {7, 8}


def test_a_record_both_judged_and_given_up_in_one_batch_counts_as_judged(sqlite_store: Store) -> None:
    assert put(sqlite_store, dead_letter(7), verdict(7)) == Committed(verdicts=1)


def test_dead_letters_are_filtered_and_resolved_by_hand(sqlite_store: Store) -> None:
    put(sqlite_store, dead_letter(1), dead_letter(2, reason="too_long"), dead_letter(3))
    assert [row["row"] for row in sqlite_store.dead_letters(reason="too_long").to_pylist()] == [2]
    with sqlite_store.lease() as lease:
        assert sqlite_store.resolve_dead_letters(lease, [place_id(1), place_id(3)], "looked at by hand") == 2
    assert [row["row"] for row in sqlite_store.dead_letters().to_pylist()] == [2]


def test_an_unknown_or_ambiguous_id_is_the_users_mistake(sqlite_store: Store) -> None:
    put(sqlite_store, *(dead_letter(row) for row in range(20)))
    with pytest.raises(UserError, match="no dead letter"):
        sqlite_store.dead_letter("zzz")
    with pytest.raises(UserError, match="the beginning of 20"):
        sqlite_store.dead_letter("")
