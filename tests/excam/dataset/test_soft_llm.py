"""The answers below were written by hand as a strong model would write them, and then spoilt in one way each."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset.soft_llm import KEYS, Rejected, SoftError, prompt, read
from excam.report import Location, Severity, Status

INSTRUCTION = "Please state your answer clearly for: 'How do people in Japan welcome the New Year?'"
OUTPUT = (
    "Families clean the house before the holiday, eat long buckwheat noodles on the last evening and visit a shrine "
    "in the first days of January. Children receive small envelopes with money from their relatives."
)
MAJOR = OUTPUT.replace("long buckwheat noodles", "a roasted goose").replace("a shrine", "a mosque")
GERMAN = (
    "Die Familien putzen vor dem Fest das Haus, essen am letzten Abend lange Nudeln und gehen in den ersten Tagen des "
    "Januars in einen Tempel. Kinder bekommen kleine Umschläge mit Geld von ihren Verwandten."
)
APPENDED = " On this day all of them also drink strong coffee with butter and sing loudly."
REWRITTEN = (
    "Some families paint a house after that holiday, drink short wheat beer by their first morning or avoid every "
    "shrine near our last weeks of March. Adults send big boxes without money to neighbours."
)
MINOR = OUTPUT.replace("buckwheat", "rice")


def _answer(**changes: str) -> str:
    fields = {
        "Error Type": "incorrect information",
        "Cultural Content": "Yes, it is about Japan.",
        "Rule Adherence": "Two words were exchanged; structure and length stay.",
        "Explanation": "Toshikoshi soba, not goose, is eaten, and people visit shrines or temples, not mosques.",
        "Severity": "major",
        "Modified Instruction": INSTRUCTION,
        "Modified Generated Text": MAJOR,
    }
    return "I think about what is typical first.\nOUTPUT:\n" + json.dumps(fields | changes, ensure_ascii=False)


def test_the_prompt_is_the_papers_with_the_pair_and_the_degree_in_it() -> None:
    minor, major = (prompt("ASK {x}", "SAY", severity) for severity in Severity)
    assert "Instruction: ASK {x}\nGenerated Text: SAY\n" in minor
    assert "6. Your error(s) should be minor, but still incorrect." in minor
    assert "6. Your error(s) should be major and significantly incorrect." in major
    assert all(f'"{key}": "' in major for key in KEYS)
    assert major.rstrip().endswith("}")
    assert "{{" not in major


def test_a_major_answer_gives_one_error_for_each_difference() -> None:
    found = read(_answer(), INSTRUCTION, OUTPUT, Severity.MAJOR)
    assert isinstance(found, SoftError)
    assert found.report.status is Status.ERROR
    errors = found.report.errors or ()
    assert [error.span for error in errors] == ["a roasted goose", "mosque"]
    assert {error.severity for error in errors} == {Severity.MAJOR}
    assert all(error.span in found.output and error.location is Location.OUTPUT for error in errors)


def test_a_minor_answer_in_a_code_fence_is_read() -> None:
    fields = _answer(**{"Severity": "Minor", "Modified Generated Text": MINOR}).split("OUTPUT:\n")[1]
    found = read(f"OUTPUT:\n```json\n{fields}\n```", INSTRUCTION, OUTPUT, Severity.MINOR)
    assert isinstance(found, SoftError)
    assert [error.span for error in found.report.errors or ()] == ["rice"]


def test_an_error_in_the_instruction_is_located_there() -> None:
    asked = INSTRUCTION.replace("Japan", "Japan, who follow the lunar calendar,")
    found = read(
        _answer(**{"Modified Instruction": asked, "Modified Generated Text": OUTPUT}),
        INSTRUCTION,
        OUTPUT,
        Severity.MAJOR,
    )
    assert isinstance(found, SoftError)
    (error,) = found.report.errors or ()
    assert (error.location, error.span) == (Location.INSTRUCTION, "who follow the lunar calendar")


SPOILT: dict[str, tuple[str, str]] = {
    "says nothing in JSON": ("I would rather not do that.", "no_json"),
    "breaks off": (_answer()[:-40], "no_json"),
    "lacks a key": (_answer().replace('"Rule Adherence"', '"Rules"'), "wrong_keys"),
    "adds a key": (_answer(Note="done"), "wrong_keys"),
    "leaves a value empty": (_answer(Explanation=" "), "wrong_keys"),
    "finds nothing cultural": (_answer(**{"Cultural Content": "No"}), "not_cultural"),
    "states another severity": (_answer(Severity="minor"), "severity"),
    "changes nothing": (_answer(**{"Modified Generated Text": OUTPUT}), "unchanged"),
    "changes punctuation only": (_answer(**{"Modified Generated Text": OUTPUT.replace(",", ";")}), "unchanged"),
    "answers in another language": (_answer(**{"Modified Generated Text": GERMAN}), "language"),
    "writes half as much": (_answer(**{"Modified Generated Text": OUTPUT[:90]}), "length"),
    "appends a sentence": (_answer(**{"Modified Generated Text": OUTPUT + APPENDED}), "appended"),
    "rewrites everything": (_answer(**{"Modified Generated Text": REWRITTEN}), "too_many"),
    "speaks of the change": (_answer(Explanation="The modified text replaces noodles by goose."), "explanation"),
}  # fmt: skip


@pytest.mark.parametrize("case", SPOILT)
def test_an_answer_is_rejected_with_its_reason_when_it(case: str) -> None:
    answer, reason = SPOILT[case]
    found = read(answer, INSTRUCTION, OUTPUT, Severity.MAJOR)
    assert isinstance(found, Rejected)
    assert found.reason == reason


JSON = st.recursive(
    st.none() | st.text() | st.integers(),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(KEYS) | st.text(), inner),
)


@given(st.text() | JSON)
@settings(max_examples=50)
def test_whatever_a_model_writes_is_read_or_rejected(answer: Any) -> None:
    text = answer if isinstance(answer, str) else "OUTPUT: " + json.dumps(answer)
    assert isinstance(read(text, INSTRUCTION, OUTPUT, Severity.MINOR), Rejected | SoftError)


@given(st.dictionaries(st.sampled_from(KEYS), st.text(min_size=1), min_size=len(KEYS)))
@settings(max_examples=50)
def test_the_right_keys_with_wild_values_never_break_anything(fields: dict[str, str]) -> None:
    fields |= {"Cultural Content": "Yes", "Severity": "minor"}
    assert isinstance(read(json.dumps(fields), INSTRUCTION, OUTPUT, Severity.MINOR), Rejected | SoftError)
