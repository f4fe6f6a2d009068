from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset.balance import Choice
from excam.dataset.hard import HardErrors, tasks_of
from excam.dataset.item import Item, Task
from excam.dataset.sample import Sample
from excam.dataset.templates.explanation import OPINION
from excam.report import ErrorReport, Severity, parse_report
from excam.span import locate

MakeItem = Callable[..., Item]
TEXT = st.text(st.characters(codec="utf-8"), min_size=1, max_size=40).filter(lambda text: text.strip())


def _error(sample: Sample) -> ErrorReport:
    report = parse_report(sample.report)
    assert isinstance(report, ErrorReport)
    return report


def test_a_question_with_options_gives_twins_with_and_without_them(make_item: MakeItem) -> None:
    found = list(HardErrors(1).twins(Choice(make_item(), "natto")))
    assert [(sample.task, sample.label) for sample in found] == [
        ("qa_options", "correct"), ("qa_options", "error"), ("freeform_qa", "correct"), ("freeform_qa", "error"),
    ]  # fmt: skip
    assert "croissant" in found[0].instruction
    assert "croissant" not in found[2].instruction


def test_twins_differ_in_their_answer_and_in_nothing_else(make_item: MakeItem) -> None:
    maker = HardErrors(1)
    for turn in range(60):
        item = make_item(item_id=f"blend:{turn}")
        for right, wrong in (
            pair for pair in [list(maker.twins(Choice(item, "natto"), [task])) for task in tasks_of(item)]
        ):
            assert right.instruction == wrong.instruction
            assert right.twin_id == wrong.twin_id
            assert right.sample_id != wrong.sample_id
            assert (right.origin, wrong.origin) == ("none", "hard")
            letters = str.maketrans(dict.fromkeys("ABCDabcd1234", "?"))
            blank = [text.output.translate(letters) for text in (right, wrong)]
            assert blank[0].replace("bread with avocado".translate(letters), "") == blank[1].replace(
                "natto".translate(letters), ""
            )


def test_the_error_is_major_quotes_the_answer_and_names_the_right_one(make_item: MakeItem) -> None:
    maker = HardErrors(1)
    for turn in range(40):
        for sample in maker.twins(Choice(make_item(item_id=f"blend:{turn}"), "natto")):
            if sample.label == "error":
                (error,) = _error(sample).errors or ()
                assert error.severity is Severity.MAJOR
                assert sample.severity == "major"
                assert error.span == "natto"
                assert "bread with avocado" in error.explanation
                assert locate(error, sample.instruction, sample.output).how == "exact"
            else:
                assert sample.report == '{"errors": []}'
                assert sample.severity is None


@pytest.mark.parametrize("short", ["no", "a", "is", "e"])
def test_a_short_answer_is_found_at_its_own_place(make_item: MakeItem, short: str) -> None:
    maker = HardErrors(2)
    item = make_item(task=Task.FREEFORM_QA, options=(), gold="Yes", wrong=(short,))
    for turn in range(30):
        for sample in maker.twins(Choice(item, short, turn)):
            if sample.label == "error":
                (error,) = _error(sample).errors or ()
                start = locate(error, sample.instruction, sample.output).start
                assert sample.output[:start].count(short) == 0
                assert sample.output[start:].startswith(short)


@given(TEXT, TEXT, TEXT)
@settings(deadline=None, max_examples=60)
def test_hostile_text_comes_through_unchanged(question: str, gold: str, wrong: str) -> None:
    told: dict[str, Any] = {"question": question, "gold": gold, "wrong": (wrong,)}
    item = Item(item_id="s:1", group="g", source="s", task=Task.QA_OPTIONS, language="en", **told)
    for sample in HardErrors(0).twins(Choice(item, wrong)):
        assert question.strip() in sample.instruction
        assert (gold if sample.label == "correct" else wrong) in sample.output
        assert _error(sample).render() == sample.report


def test_what_is_not_about_culture_is_never_an_error_even_when_it_is_wrong(make_item: MakeItem) -> None:
    item = make_item(question="What is 2 + 2?", gold="4", wrong=("5",), options=(), cultural=False, country=None)
    found = list(HardErrors(0).ordinary(item, "5", Task.FREEFORM_QA))
    assert [sample.label for sample in found] == ["not_applicable"] * 2
    assert {sample.report for sample in found} == {'{"errors": null}'}
    assert {sample.twin_id for sample in found} == {None}
    assert {sample.instruction for sample in found} == {found[0].instruction}


def test_explanations_fit_the_kind_of_source(make_item: MakeItem) -> None:
    def type_of(**changes: object) -> str:
        item = make_item(task=Task.IMPERSONATION, gold="Yes", wrong=("No",), options=(), **changes)
        sample = list(HardErrors(0).twins(Choice(item, "No")))[1]
        return (_error(sample).errors or ())[0].type

    assert type_of(source="globalopinionqa") == "misrepresentation of values"
    assert type_of(source="normad", explanation="Guests greet everyone.") == "misjudged social norm"
    assert type_of(source="epic") == "misread irony"


def test_an_answer_that_only_leads_is_not_called_that_of_most_people() -> None:
    """In two survey questions of five no answer has half of the people behind it."""
    assert not [pattern for pattern in OPINION.explanations if "most people" in pattern.casefold()]


def test_the_rule_of_thumb_stands_in_the_explanation(make_item: MakeItem) -> None:
    item = make_item(
        source="normad", task=Task.IMPERSONATION, gold="Yes", wrong=("No",), options=(), explanation="Guests greet all."
    )
    sample = list(HardErrors(0).twins(Choice(item, "No")))[1]
    assert "Guests greet all." in (_error(sample).errors or ())[0].explanation
