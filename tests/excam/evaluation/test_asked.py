from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from excam.evaluation.asked import questions, read_answers, unreadable, write_questions
from excam.fault import UserError

RECORDS: dict[str, list[dict[str, Any]]] = {
    "msqa": [
        {"id": "PT-1", "language": "pt", "culture_circle": "Portugal", "category": "Social Norms and Customs",
         "question": "Como se chama o bordado?", "answer": "Bordado de Castelo Branco"},
        {"id": "EN-1", "language": "en", "category": "Cultural Products and Symbols",
         "question": "Which symbol is on the mark?", "answer": "An owl."},
    ],
    "culturall": [
        {"language": "en", "region": "JP", "topic": "Food", "scenario": "Ken is at a sushi bar.",
         "question": "What does he drink at the end? A. agari B. sake", "answer": "A"},
    ],
    "calmqa": [
        {"name": "non_cultural:0", "culture": "agnostic", "language": "English", "question": "Why is the sky blue?",
         "answers": []},
        {"name": "german:1", "culture": "specific", "language": "German", "question": "Warum Mülltrennung?",
         "answers": [{"by": "human", "text": "Weil."}]},
    ],
}  # fmt: skip


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, records in RECORDS.items():
        path = tmp_path / name / "records.jsonl.gz"
        path.parent.mkdir()
        path.write_bytes(gzip.compress("\n".join(map(json.dumps, records)).encode()))
    return tmp_path


def test_each_benchmark_gives_its_questions_with_what_they_are_sliced_by(root: Path) -> None:
    first, second = questions("msqa", root)
    assert (first.question_id, first.language, first.country, first.topic) == (
        "msqa:PT-1", "pt", "PT", "Social Norms and Customs",
    )  # fmt: skip
    assert (second.country, second.gold) == (None, "An owl.")
    (scene,) = questions("culturall", root)
    assert (scene.country, scene.topic, scene.gold) == ("JP", "Food", "agari")
    assert scene.question == "Ken is at a sushi bar.\nWhat does he drink at the end?\nA. agari\nB. sake"
    assert [(one.question_id, one.cultural) for one in questions("calmqa", root)] == [
        ("calmqa:non_cultural:0:en", False),
        ("calmqa:german:1:de", True),
    ]


def test_records_that_are_no_questions_are_named(root: Path) -> None:
    cut = gzip.compress(b"\n".join(json.dumps(one).encode() for one in RECORDS["msqa"]))[:-12]
    (root / "msqa" / "records.jsonl.gz").write_bytes(cut)
    (bad,) = unreadable("msqa", root)
    assert "cannot be read from here on" in bad.reason
    odd = json.dumps({**RECORDS["calmqa"][0], "language": "Nowherish"})
    (root / "calmqa" / "records.jsonl.gz").write_bytes(gzip.compress(odd.encode()))
    assert [one.reason for one in unreadable("calmqa", root)] == ["language: 'Nowherish' is not known"]
    assert unreadable("culturall", root) == []


def test_questions_are_written_without_their_answers_and_answers_find_them_again(root: Path) -> None:
    asked = questions("msqa", root)
    assert write_questions(asked, root / "q.parquet") == 2
    written = pq.read_table(root / "q.parquet")
    assert "gold" not in written.column_names
    lines = [json.dumps({"question_id": name, "answer": "an owl"}) for name in written["question_id"].to_pylist()]
    (root / "a.jsonl").write_text("\n".join(lines), "utf-8")
    assert [one[0] for one in read_answers(root / "a.jsonl", asked)] == asked


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"question_id": "msqa:PT-1"}', "answer"),
        ('{"question_id": "msqa:NO", "answer": "x"}', "no question 'msqa:NO'"),
        ('{"question_id": "msqa:PT-1", "answer": "x", "factual": 2}', "factual"),
        ('{"question_id": "msqa:PT-1", "answer": "x"}\n' * 2, "a.jsonl:2: a second answer to msqa:PT-1"),
        ("", "holds no answer"),
        ("not json", "a.jsonl:1"),
    ],
)
def test_answers_that_cannot_be_used_are_named_by_file_and_line(root: Path, text: str, message: str) -> None:
    (root / "a.jsonl").write_text(text, "utf-8")
    with pytest.raises(UserError, match=message):
        read_answers(root / "a.jsonl", questions("msqa", root))


def test_an_empty_cell_of_a_table_is_a_mark_nobody_gave(root: Path) -> None:
    (root / "a.csv").write_text("question_id,answer,grade,factual\nmsqa:PT-1,um bordado,,\n", "utf-8")
    ((_, answer),) = read_answers(root / "a.csv", questions("msqa", root))
    assert (answer.answer, answer.grade, answer.factual) == ("um bordado", None, None)


def test_a_benchmark_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        questions("msqa", tmp_path)
    assert "m-a-p/MSQA" in caught.value.fix
