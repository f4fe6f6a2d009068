"""CulturALL: a scene and a question, with options only where the answer is a letter."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write


def sample(**more: Any) -> dict[str, Any]:
    return {
        "language": "en",
        "region": "uk",
        "topic": "Travel",
        "scenario": "Ana waits at a bus stop in Leeds.",
        "question": "How does she call the bus?",
        "answer": "She puts out her arm.",
        "explanation": "Drivers stop on request only.",
        **more,
    }


def test_a_short_answer_makes_a_freeform_item(write: Write, load: Load) -> None:
    write("culturall/data.jsonl", [sample()])
    item = load("culturall").only
    assert item.question == "Ana waits at a bus stop in Leeds.\nHow does she call the bus?"
    assert (item.country, item.gold, item.task, item.wrong) == ("GB", "She puts out her arm.", "freeform_qa", ())
    assert item.explanation == "Drivers stop on request only."


@pytest.mark.parametrize("listed", ["A. wave B. shout C. whistle D. wait", "\nA) wave\nB) shout\nC) whistle\nD) wait"])
def test_a_letter_stands_for_an_option_of_the_question(write: Write, load: Load, listed: str) -> None:
    write("culturall/data.jsonl", [sample(question=f"What does she do? {listed}", answer="A")])
    item = load("culturall").only
    assert (item.gold, item.wrong, item.task) == ("wave", ("shout", "whistle", "wait"), "qa_options")
    assert item.question.endswith("What does she do?")


def test_a_letter_without_its_option_and_a_region_that_is_none_are_named(write: Write, load: Load) -> None:
    write("culturall/data.jsonl", [sample(answer="C"), sample(region="zz"), sample(scenario=None)])
    assert load("culturall").reasons == [
        "answer: 'C' is a letter, but the question lists no such option",
        "region: 'zz' is not a country",
        "scenario: Input should be a valid string",
    ]


def test_the_published_spreadsheets_are_read_and_their_subsets_collapse(tmp_path: Path, load: Load) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    (tmp_path / "culturall").mkdir()
    for name in ("annotated_data.xlsx", "annotated_data_hard.xlsx"):
        book = openpyxl.Workbook()
        book.active.append(list(sample()))
        book.active.append(list(sample().values()))
        book.save(tmp_path / "culturall" / name)
    assert load("culturall").only.country == "GB"
