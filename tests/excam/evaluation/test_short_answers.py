from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.evaluation.asked import Answer, Asked
from excam.evaluation.short_answers import Grade, accuracy, contains, grade_all, grades_by, msqa
from excam.fault import UserError

RIGHT, NONE, WRONG = Grade.CORRECT, Grade.NOT_ATTEMPTED, Grade.INCORRECT


def _asked(question_id: str, **changes: str) -> Asked:
    fields = {"question_id": question_id, "question": "Which?", "gold": "an owl", "language": "en", **changes}
    return Asked.model_validate(fields)


def test_the_five_figures_by_hand() -> None:
    # of ten answers five are right, two not attempted, three wrong: CGA 5/8, F = 2 * 0.5 * 0.625 / 1.125
    found = msqa([RIGHT] * 5 + [NONE] * 2 + [WRONG] * 3)
    assert (found.co, found.na, found.incorrect, found.cga) == (0.5, 0.2, 0.3, 0.625)
    assert found.f == pytest.approx(0.5556, abs=1e-4)


@pytest.mark.parametrize(
    ("co", "na", "incorrect", "cga", "f"),
    [(67.9, 2.6, 29.6, 69.6, 68.7), (55.1, 1.7, 43.2, 56.1, 55.6), (48.1, 17.8, 34.1, 58.5, 52.8)],
)
def test_the_rows_of_the_papers_table_follow_from_their_shares(
    co: float, na: float, incorrect: float, cga: float, f: float
) -> None:
    grades = [RIGHT] * round(co * 10) + [NONE] * round(na * 10) + [WRONG] * round(incorrect * 10)
    found = msqa(grades)
    assert 100 * found.cga == pytest.approx(cga, abs=0.15)
    assert 100 * found.f == pytest.approx(f, abs=0.15)


@given(st.lists(st.sampled_from(Grade), max_size=30))
def test_shares_add_up_and_f_lies_between_co_and_cga(grades: list[Grade]) -> None:
    found = msqa(grades)
    if not grades:
        assert math.isnan(found.f)
        return
    assert found.co + found.na + found.incorrect == pytest.approx(1)
    assert found.co - 1e-9 <= found.f <= found.cga + 1e-9


def test_accuracy_counts_silence_as_not_right_and_has_an_interval() -> None:
    found = accuracy([RIGHT, RIGHT, NONE, WRONG])
    assert (found.n, found.accuracy) == (4, 0.5)
    assert found.low < 0.5 < found.high


@pytest.mark.parametrize(
    ("answer", "grade"),
    [("It was an OWL.", RIGHT), ("an owl", RIGHT), ("", NONE), ("  \n", NONE), ("A cat", WRONG), ("an owlet", WRONG)],
)
def test_the_grader_without_a_model_looks_for_the_gold_answers_words(answer: str, grade: Grade) -> None:
    assert contains("Which?", "an owl", answer) is grade


@pytest.mark.parametrize(
    ("answer", "grade"),
    [
        ("B", RIGHT), ("(B)", RIGHT), ("**B**", RIGHT), ("B. An owl", RIGHT), ("B) it is", RIGHT), ("an owl", RIGHT),
        ("A", WRONG), ("A. a cat, not an owl", WRONG), ("C. an owl", RIGHT), ("Be it a cat", WRONG),
    ],
)  # fmt: skip
def test_an_answer_may_pick_an_option_by_its_letter(answer: str, grade: Grade) -> None:
    assert contains("Which?\nA. a cat\nB. an owl", "an owl", answer) is grade


def test_a_grade_in_the_file_stands_before_the_grader_and_a_grader_can_be_plugged_in() -> None:
    given_ = [(_asked("1"), Answer(question_id="1", answer="a cat", grade="correct")),
              (_asked("2"), Answer(question_id="2", answer="a cat"))]  # fmt: skip
    assert [one.grade for one in grade_all(given_, lambda question, gold, answer: NONE)] == [RIGHT, NONE]
    with pytest.raises(UserError, match="'maybe' of 1"):
        grade_all([(_asked("1"), Answer(question_id="1", answer="x", grade="maybe"))])


@pytest.mark.parametrize("said", ["Correct", None, True])
def test_a_grader_that_says_anything_else_ends_the_run_instead_of_counting_as_wrong(said: Any) -> None:
    with pytest.raises(UserError, match="of 1"):
        grade_all([(_asked("1"), Answer(question_id="1", answer="an owl"))], lambda question, gold, answer: said)


def test_grades_are_split_by_region_and_topic() -> None:
    answers = [
        (_asked(str(number), country=country, topic="Food"), Answer(question_id=str(number), answer=text))
        for number, (country, text) in enumerate([("JP", "an owl"), ("JP", "a cat"), ("RS", "an owl")])
    ]
    by_region = grades_by(grade_all(answers), lambda asked: asked.country)
    assert {region: accuracy(grades).accuracy for region, grades in by_region.items()} == {"JP": 0.5, "RS": 1.0}
    assert list(grades_by(grade_all(answers), lambda asked: asked.topic)) == ["Food"]
    assert list(grades_by(grade_all(answers), lambda asked: None)) == ["none"]
