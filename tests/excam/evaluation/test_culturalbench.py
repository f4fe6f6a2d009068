from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from excam.evaluation.culturalbench import pairs, read_questions, results
from excam.evaluation.verdicts import decision_only
from excam.fault import UserError
from excam.judgement import JudgeFailure


def _write(root: Path, options: dict[str, list[bool]]) -> None:
    rows = [
        {"question_id": name, "input": f"Is this true? Question: What is eaten in {name}? Answer: dish {place}.",
         "output": str(true), "country": "Japan" if name < "c" else "Mexico"}
        for name, truths in options.items()
        for place, true in enumerate(truths)
    ]  # fmt: skip
    path = root / "culturalbench" / "true_false.jsonl.gz"
    path.parent.mkdir(parents=True)
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, rows)).encode()))


def _judged(questions: list[Any], wrong: set[tuple[str, str, int]]) -> list[dict[str, Any]]:
    """A judge that is right but for the judgements named."""
    truth = {one.question_id: one.true for one in questions}
    rows = []
    for row in pairs(questions):
        error = not truth[row["question_id"]][row["place"]]
        if (row["form"], row["question_id"], row["place"]) in wrong:
            error = not error
        rows.append(row | {"status": "error" if error else "correct", "p_error": (0.8 if error else 0.3)})
    return [row | {"p_error": row["p_error"] + row["place"] / 100} for row in rows]


def test_a_hard_question_counts_only_if_all_four_judgements_are_right(tmp_path: Path) -> None:
    _write(
        tmp_path, {"a": [True, False, False, False], "b": [False, True, False, False], "c": [False, False, True, True]}
    )
    questions = read_questions(tmp_path)
    judged = _judged(questions, {("hard", "a", 3), ("easy", "b", 0)})
    found = {(one.form, one.country): (one.right, one.n) for one in results(questions, judged)}
    assert found["hard", ""] == (2, 3), "one judgement of four is wrong in a"
    assert found["easy", ""] == (2, 3), "in b a false option looks least like an error"
    assert found["hard", "JP"] == (1, 2)
    assert found["easy", "MX"] == (1, 1)


def test_nobody_is_measured_on_half_a_file(tmp_path: Path) -> None:
    _write(tmp_path, {name: [True, False, False, False] for name in "abcdefgh"})
    path = tmp_path / "culturalbench" / "true_false.jsonl.gz"
    path.write_bytes(path.read_bytes()[:-20])
    with pytest.raises(UserError, match=r"culturalbench/true_false.jsonl.gz:\d+: file: cannot be read from here on"):
        read_questions(tmp_path)


def test_a_judge_that_cannot_tell_the_options_apart_has_picked_none(tmp_path: Path) -> None:
    _write(tmp_path, {"a": [True, False, False, False]})
    questions = read_questions(tmp_path)
    judged = [row | {"status": "correct", "p_error": 0.2} for row in pairs(questions)]
    assert [one.right for one in results(questions, judged)] == [0, 0, 0, 0]


def test_a_missing_or_failed_judgement_is_not_right(tmp_path: Path) -> None:
    _write(tmp_path, {"a": [True, False, False, False]})
    questions = read_questions(tmp_path)
    whole = _judged(questions, set())
    assert {one.form: one.right for one in results(questions, whole)} == {"easy": 1, "hard": 1}
    assert {one.form: one.right for one in results(questions, whole[:-1])} == {"easy": 1, "hard": 0}
    failed = list(pairs(questions))[-2] | decision_only(JudgeFailure("unparsable_report", "?"), 0.5)
    assert {one.form: one.right for one in results(questions, [*whole, failed])} == {"easy": 0, "hard": 1}


def test_only_whole_questions_of_the_split_asked_for_are_used(tmp_path: Path) -> None:
    _write(tmp_path, {"a": [True, False, False], "b": [True, False, False, False], "c": [False, True, False, False]})
    assert [one.question_id for one in read_questions(tmp_path)] == ["b", "c"]
    assert [one.question_id for one in read_questions(tmp_path, frozenset({"culturalbench:c"}))] == ["c"]
    rows = list(pairs(read_questions(tmp_path, frozenset({"culturalbench:c"}))))
    assert len(rows) == 8
    assert "Option D: dish 3" in rows[0]["instruction"]
    assert "Option" not in rows[1]["instruction"]


def test_the_same_table_in_two_files_is_asked_once(tmp_path: Path) -> None:
    _write(tmp_path, {"a": [True, False, False, False]})
    path = tmp_path / "culturalbench" / "true_false.jsonl.gz"
    (path.parent / "again.jsonl.gz").write_bytes(path.read_bytes())
    assert [one.options for one in read_questions(tmp_path)] == [["dish 0", "dish 1", "dish 2", "dish 3"]]


def test_a_folder_without_it_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        read_questions(tmp_path)
    assert "CulturalBench" in caught.value.fix
