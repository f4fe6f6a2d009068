"""What a judge has seen: the filter, the reuse of verdicts, the backlog of a new judge."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from excam.store import Store
from tests.excam.store.outcomes import JUDGE, START, TUNED, error, put, unit, verdict


def test_known_hashes_are_the_sorted_beginnings_of_what_this_judge_judged(store: Store) -> None:
    rows = [verdict(number) for number in range(5)]
    put(store, *rows)
    known = store.known_hashes(JUDGE)
    assert known.dtype == np.uint64
    assert known.tolist() == sorted(int(row["content_hash"][:16], 16) for row in rows)
    assert store.known_hashes("another judge").tolist() == []


def test_a_verdict_is_found_by_its_text_once_however_many_pairs_have_it(store: Store) -> None:
    text = {"instruction": "Is the left hand used?", "output": "Yes."}
    put(store, *(verdict(number, **text, errors=[error()], score=-5.0) for number in range(3)), verdict(9))
    wanted = verdict(0, **text)["content_hash"]
    (found,) = store.verdicts_of(JUDGE, [wanted, "f" * 32, wanted]).to_pylist()
    assert (found["content_hash"], found["status"], found["score"]) == (wanted, "error", -5.0)
    assert set(found) == {
        "content_hash", "status", "score", "p_error", "p_report", "report", "guided", "truncated", "gated",
    }  # fmt: skip
    assert store.verdicts_of(TUNED.judge_version, [wanted]).num_rows == 0
    assert store.verdicts_of(JUDGE, []).num_rows == 0


def test_a_new_judge_finds_the_pairs_it_has_not_judged_in_files_of_the_size_asked(store: Store, tmp_path: Path) -> None:
    put(store, *(verdict(number, sample_share=0.5) for number in range(5)))
    put(store, verdict(1), judge=TUNED)
    files = store.pending_pairs(TUNED.judge_version, str(tmp_path / "backlog"), rows_per_file=3)
    tables = [pq.read_table(file) for file in files]
    assert [table.num_rows for table in tables] == [3, 1]
    rows = sorted((row for table in tables for row in table.to_pylist()), key=lambda row: str(row["pair_id"]))
    assert [row["pair_id"] for row in rows] == ["p0", "p2", "p3", "p4"]
    assert (rows[0]["instruction"], rows[0]["logged_at"], rows[0]["sample_share"]) == (
        "How do people eat, question 0?",
        START,
        0.5,
    )
    assert store.pending_pairs(JUDGE, str(tmp_path / "nothing"), rows_per_file=3) == []


def test_the_ledger_knows_the_parts_of_this_version_of_a_file_only(sqlite_store: Store) -> None:
    put(sqlite_store, units=[unit(0), unit(1, state="reading"), unit(2, fingerprint="v2"), unit(3, source="b")])
    put(sqlite_store, units=[unit(1), unit(0, next_offset=5)])
    assert sqlite_store.done_parts("file:///logs/a.parquet", "v1", JUDGE) == {0, 1}
    assert sqlite_store.done_parts("file:///logs/a.parquet", "v1", "another judge") == set()
    rows = sqlite_store.ledger_sources(JUDGE).to_pylist()
    assert len(rows) == 4
    assert [row["next_offset"] for row in rows if row["part"] == 0] == [5]
