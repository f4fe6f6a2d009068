from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset.balance import Choice
from excam.dataset.hard import HardErrors
from excam.dataset.item import Item, Task
from excam.evaluation.explanations import explained, names_answer, right_answer
from excam.report import ErrorReport

WORDS = st.text(st.characters(categories=("L", "N", "P", "Zs"), max_codepoint=0x3100), min_size=1, max_size=40).filter(
    lambda text: text.strip() == text and text
)


@settings(max_examples=60)
@given(WORDS, WORDS, st.sampled_from([Task.QA_OPTIONS, Task.IMPERSONATION, Task.FREEFORM_QA]), st.integers(0, 60))
def test_the_right_answer_is_read_off_the_twins_whatever_their_wording(
    gold: str, wrong: str, task: Task, seed: int
) -> None:
    if gold == wrong:
        return
    options = (gold, wrong) if task is Task.QA_OPTIONS else ()
    item = Item(item_id="s:1", group="s:1", source="s", task=task, question="What?", gold=gold, wrong=(wrong,),
                options=options, language="en", country="ID", role="a typical person" )  # fmt: skip
    samples = list(HardErrors(seed).twins(Choice(item, wrong, 0)))
    for right, error in zip(samples[::2], samples[1::2], strict=True):
        said = ErrorReport.model_validate_json(error.report).errors
        assert said
        assert right_answer(said[0].span, error.output, right.output) == gold


def test_twins_that_do_not_line_up_have_no_known_answer() -> None:
    assert right_answer("rice", "The answer is rice.", "Something else entirely: bread!") is None
    assert right_answer("absent", "The answer is rice.", "The answer is bread.") is None


@pytest.mark.parametrize(
    ("explanation", "answer", "wrong"),
    [
        ("The right answer is 'Lunar New Year', not 'Christmas'.", "lunar new year", "Christmas"),
        ("Most people answer 'No'; 'Yes' misrepresents them.", "No", "Yes"),
        ("'no opinion' is wrong; it should be 'No'.", "No", "no opinion"),
        ("正解は上古です", "上古", "官名"),
        ("It is 8.", "8.", "10"),
        ("The answer is very good indeed", "very good", "good"),
        ("The dish is 'pho\u031b\u0309', not 'bu\u0301n'.", "ph\u1edf", "b\u00fan"),
        ("सही उत्तर 'कमी' है।", "कमी", "नमक"),
        ("答えは１２月です", "12月", "8月"),
    ],
)
def test_an_explanation_names_the_answer(explanation: str, answer: str, wrong: str) -> None:
    assert names_answer(explanation, answer, wrong)


@pytest.mark.parametrize(
    ("explanation", "answer", "wrong"),
    [
        ("That is not known.", "No", "Yes"),
        ("'no opinion' is not the typical view.", "no", "no opinion"),
        ("It should be 18.", "8", "10"),
        ("सही उत्तर 'कमी' है।", "कम", "नमक"),
        ("விடை 'கோயில்' ஆகும்.", "யில்", "வீடு"),
        ("'Christmas' is wrong.", "Lunar New Year", "Christmas"),
        ("", "Yes", "No"),
        ("anything", "", "x"),
    ],
)
def test_an_explanation_that_only_seems_to_name_it_does_not_count(explanation: str, answer: str, wrong: str) -> None:
    assert not names_answer(explanation, answer, wrong)


@given(st.text(max_size=60), st.text(max_size=20), st.text(max_size=20))
def test_no_text_breaks_the_search(explanation: str, answer: str, wrong: str) -> None:
    assert names_answer(explanation, answer, wrong) in (True, False)


def _report(span: str, explanation: str) -> str:
    return (
        '{"errors": [{"severity": "major", "type": "t", "location": "output", '
        f'"span": "{span}", "explanation": "{explanation}"}}]}}'
    )


def test_reports_are_followed_from_detection_to_answer_and_span(make_row: Any) -> None:
    rows = []
    for number, (says, written) in enumerate(
        [
            ("error", _report("wrong", "It should be 'right'.")),
            ("error", _report("The answer", "This is not so.")),
            ("error", _report("never said", "It should be 'right'.")),
            ("correct", None),
        ]
    ):
        rows.append(make_row(number, "error", says, written=written))
        rows.append(make_row(number, "correct", "correct"))
    first, second, third, missed = explained(rows)
    assert (first.found, first.names_right_answer, first.span_located, first.span_is_gold) == (True, True, True, True)
    assert (second.names_right_answer, second.span_located, second.span_is_gold) == (False, True, False)
    assert not second.span_overlaps
    assert (third.names_right_answer, third.span_located) == (True, False)
    assert (missed.found, missed.names_right_answer) == (False, None)


def test_an_error_whose_twin_was_not_judged_is_not_asked_about(make_row: Any) -> None:
    assert explained([make_row(1, "error", "error", written=_report("wrong", "right"))]) == []
