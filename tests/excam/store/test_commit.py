"""A commit: all of a micro-batch or nothing, and nothing twice."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from excam.outcome import outcome_table
from excam.store import CONFLICT, Committed, OffsetRange, Store
from excam.store.offsets import START as START_RANGE
from tests.excam.store.outcomes import (
    CARD,
    JUDGE,
    START,
    TUNED,
    count,
    dead_letter,
    error,
    open_letters,
    put,
    rows_of,
    unit,
    verdict,
)


def test_a_batch_becomes_pairs_texts_verdicts_errors_and_a_ledger_row(store: Store) -> None:
    wrong = verdict(1, errors=[error(), error(severity="minor", span="fork", start=30, end=34)], score=-6.0)
    assert put(store, verdict(0), wrong, units=[unit(3)]) == Committed(verdicts=2, errors=2)

    (stored,) = rows_of(store, "SELECT * FROM lake.verdicts WHERE pair_id = 'p1'")
    assert (stored["status"], stored["score"], stored["n_minor"], stored["n_major"]) == ("error", -6.0, 1, 1)
    assert stored["judge_version"] == JUDGE
    assert stored["logged_on"] == START.date()
    errors = rows_of(store, "SELECT * FROM lake.errors ORDER BY ordinal")
    assert [(row["ordinal"], row["span"], row["start"], row["end"]) for row in errors] == [
        (1, "left hand", 10, 19),
        (2, "fork", 30, 34),
    ]
    assert errors[0]["country"] == "ID"
    (text,) = rows_of(store, "SELECT texts.* FROM lake.texts JOIN lake.pairs USING (content_hash) WHERE pair_id = 'p0'")
    assert text["instruction"] == "How do people eat, question 0?"
    assert store.done_parts("file:///logs/a.parquet", "v1", JUDGE) == {3}


def test_the_same_batch_again_changes_nothing(store: Store) -> None:
    batch = [verdict(number, errors=[error()]) for number in range(3)]
    put(store, *batch)
    assert put(store, *batch) == Committed(known=3)
    assert [count(store, table) for table in ("texts", "pairs", "verdicts", "errors")] == [3, 3, 3, 3]


def test_after_a_larger_sample_of_a_log_no_pair_stands_for_those_that_are_in_it_now(sqlite_store: Store) -> None:
    first, second = verdict(0, errors=[error()]), verdict(1, errors=[error()])
    with sqlite_store.lease() as lease:
        for judge in (CARD, TUNED):
            put(sqlite_store, first | {"sample_share": 0.25}, judge=judge, lease=lease)
        put(sqlite_store, first, second, lease=lease)
        put(sqlite_store, first | {"sample_share": 0.5}, lease=lease)
    assert rows_of(sqlite_store, "SELECT sample_share FROM lake.pairs") == [{"sample_share": 1.0}] * 2
    for table in ("verdicts", "errors"):
        drawn = rows_of(sqlite_store, f"SELECT judge_version, pair_id, sample_share FROM lake.{table} ORDER BY ALL")
        shares = {(row["judge_version"], row["pair_id"]): row["sample_share"] for row in drawn}
        assert shares == {(JUDGE, "p0"): 1.0, (JUDGE, "p1"): 1.0, (TUNED.judge_version, "p0"): 0.25}


def test_what_comes_twice_to_a_capped_stream_still_stands_for_what_the_cap_left_out(sqlite_store: Store) -> None:
    read = OffsetRange("kafka:chat", 0, 0, 1, kind=START_RANGE)
    with sqlite_store.lease() as lease:
        put(sqlite_store, verdict(0, sample_share=0.25), lease=lease)
        again = outcome_table([verdict(0, reused=True)])
        sqlite_store.commit(lease, "run", JUDGE, [again], (), [read])
    assert rows_of(sqlite_store, "SELECT sample_share FROM lake.verdicts") == [{"sample_share": 0.25}]


def test_a_pair_twice_in_one_batch_is_stored_once(store: Store) -> None:
    assert put(store, verdict(0), verdict(0, row=7), verdict(0, row=8)) == Committed(verdicts=1, known=2)
    assert count(store, "pairs") == count(store, "verdicts") == 1
    assert rows_of(store, 'SELECT "row" FROM lake.pairs') == [{"row": 0}]


def test_the_same_text_under_two_ids_is_kept_once(store: Store) -> None:
    text = {"instruction": "What is eaten at dawn?", "output": "Rice."}
    put(store, verdict(0, **text), verdict(1, **text))
    put(store, verdict(2, **text))
    assert (count(store, "texts"), count(store, "pairs"), count(store, "verdicts")) == (1, 3, 3)


def test_a_known_id_with_another_text_becomes_a_dead_letter_and_the_first_stays(store: Store) -> None:
    put(store, verdict(0))
    committed = put(store, verdict(0, row=9, output="With the right hand.", sample_share=0.5), verdict(1))
    assert committed == Committed(verdicts=1, dead_letters=1, conflicts=1)
    assert rows_of(
        store, "SELECT output FROM lake.texts JOIN lake.pairs USING (content_hash) WHERE pair_id = 'p0'"
    ) == [{"output": "With the left hand."}]
    (letter,) = open_letters(store)
    assert (letter["reason"], letter["stage"], letter["pair_id"], letter["row"]) == (CONFLICT, "commit", "p0", 9)
    record = json.loads(letter["record"])
    assert (record["output"], record["sample_share"]) == ("With the right hand.", 0.5)


def test_two_texts_under_one_new_id_keep_the_first_and_lose_neither(store: Store) -> None:
    committed = put(store, verdict(0, row=5, output="Second."), verdict(0, row=2, output="First."))
    assert committed == Committed(verdicts=1, dead_letters=1, conflicts=1)
    assert rows_of(store, "SELECT output FROM lake.texts") == [{"output": "First."}]
    assert "Second." in open_letters(store)[0]["record"]
    question = {"instruction": verdict(0)["instruction"], "row": 5}
    assert put(store, verdict(3, **question, output="Third.")) == Committed(verdicts=1), "its text is not there"
    mended = put(store, verdict(4, **question, output="Second."))
    assert mended == Committed(verdicts=1, resolved=1), "it stands where it stood, and has an id of its own"


def test_two_ids_that_share_a_short_key_are_two_pairs(store: Store) -> None:
    put(store, verdict(0))
    with store._connection.cursor() as connection:  # a collision of 64 bits cannot be found, only forged
        connection.execute("UPDATE lake.pairs SET pair_key = md5_number_lower('p1')")
    assert put(store, verdict(1)) == Committed(verdicts=1)
    assert count(store, "pairs") == 2


def test_another_judge_adds_a_verdict_and_keeps_the_old_one(store: Store) -> None:
    put(store, verdict(0))
    assert put(store, verdict(0, errors=[error()]), judge=TUNED) == Committed(verdicts=1, errors=1)
    assert (count(store, "pairs"), count(store, "verdicts"), count(store, "texts")) == (1, 2, 1)


def test_staged_parquet_files_and_tables_are_committed_together(store: Store, tmp_path: Path) -> None:
    file = tmp_path / "it's staged.parquet"
    pq.write_table(outcome_table([verdict(0), verdict(1)]), file)
    with store.lease() as lease:
        run_id = store.start_run(lease, "score", JUDGE, {})
        committed = store.commit(lease, run_id, JUDGE, [str(file), outcome_table([verdict(2)])], [])
    assert committed == Committed(verdicts=3)


def test_an_empty_commit_only_moves_the_ledger(store: Store) -> None:
    assert put(store, units=[unit(0, state="skipped", detail="no rows"), unit(1)]) == Committed()
    assert store.done_parts("file:///logs/a.parquet", "v1", JUDGE) == {1}


@pytest.mark.parametrize(
    "broken",
    [
        verdict(0, kind="pending"),
        verdict(0, status="fine"),
        verdict(0, pair_id=None),
        verdict(0, content_hash="not a hash"),
        verdict(0, judge_version="someone else"),
        dead_letter(0, source=None),
    ],
    ids=["pending", "status", "no id", "no hash", "other judge", "no source"],
)
def test_an_outcome_no_stage_should_send_is_refused_and_nothing_is_stored(
    sqlite_store: Store, broken: dict[str, object]
) -> None:
    with pytest.raises(ValueError, match="cannot be stored"):
        put(sqlite_store, verdict(1), broken)
    assert count(sqlite_store, "pairs") == 0


def test_a_failure_in_the_middle_leaves_nothing_behind(store: Store) -> None:
    with store.lease() as lease:
        run_id = store.start_run(lease, "score", JUDGE, {})
        with pytest.raises(ValueError, match="not a number"):
            store.commit(lease, run_id, JUDGE, [outcome_table([verdict(0)])], [unit(rows_total="not a number")])
        assert [count(store, table) for table in ("texts", "pairs", "verdicts", "ledger")] == [0, 0, 0, 0]
        assert store.commit(lease, run_id, JUDGE, [outcome_table([verdict(0)])], []) == Committed(verdicts=1)


def test_a_judge_is_registered_once_and_a_run_keeps_its_counts(store: Store) -> None:
    assert store.register_judge(CARD) == store.register_judge(CARD) == JUDGE
    assert count(store, "judges") == 1
    with store.lease() as lease:
        run_id = store.start_run(lease, "score", JUDGE, {"logs": ["a.parquet"]})
        assert rows_of(store, "SELECT state FROM lake.runs") == [{"state": "running"}]
        store.end_run(lease, run_id, "done", {"pairs": 3})
    (run,) = store.runs().to_pylist()
    assert (run["run_id"], run["state"], run["counts"]) == (run_id, "done", '{"pairs": 3}')
