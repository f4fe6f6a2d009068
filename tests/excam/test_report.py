"""The report: written in one canonical way, read back strictly."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.report import (
    CORRECT_REPORT,
    NOT_APPLICABLE_REPORT,
    OPENING,
    CulturalError,
    ErrorReport,
    Location,
    ParseFailure,
    Severity,
    Status,
    parse_report,
)

words = st.text(st.characters(codec="utf-8"), min_size=1)
errors = st.builds(
    CulturalError,
    severity=st.sampled_from(Severity),
    type=words,
    location=st.sampled_from(Location),
    span=words,
    explanation=words,
)
GOOD = {"severity": "major", "type": "fact", "location": "output", "span": "Eid", "explanation": "It is Nyepi."}


@given(st.lists(errors, max_size=4))
def test_what_is_written_is_read_back(found: list[CulturalError]) -> None:
    report = ErrorReport(errors=tuple(found))
    assert parse_report(report.render()) == report


def test_the_decision_comes_right_after_the_opening() -> None:
    assert CORRECT_REPORT.render() == OPENING + " []}"
    assert NOT_APPLICABLE_REPORT.render() == OPENING + " null}"
    assert ErrorReport(errors=(CulturalError.model_validate(GOOD),)).render().startswith(OPENING + ' [{"severity": "')


def test_the_status_follows_from_the_errors() -> None:
    assert CORRECT_REPORT.status is Status.CORRECT
    assert NOT_APPLICABLE_REPORT.status is Status.NOT_APPLICABLE
    assert ErrorReport(errors=(CulturalError.model_validate(GOOD),)).status is Status.ERROR


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("", "empty"),
        ("  \n", "empty"),
        ("no errors", "not_json"),
        ('{"errors": []', "not_json"),
        ('{"errors": []} and more', "not_json"),
        ('{"errors": NaN}', "not_json"),
        ("[" * 100_000, "not_json"),
        ('{"errors": [], "errors": []}', "duplicate_key"),
        ("[]", "wrong_shape"),
        ("{}", "wrong_shape"),
        ('{"errors": [], "note": 1}', "wrong_shape"),
        ('{"errors": {}}', "wrong_shape"),
        ('{"errors": "none"}', "wrong_shape"),
        (json.dumps({"errors": [GOOD | {"severity": "critical"}]}), "wrong_shape"),
        (json.dumps({"errors": [GOOD | {"span": ""}]}), "wrong_shape"),
        (json.dumps({"errors": [GOOD | {"span": None}]}), "wrong_shape"),
        (json.dumps({"errors": [GOOD | {"extra": 1}]}), "wrong_shape"),
        (json.dumps({"errors": [GOOD | {"span": "\ud800"}]}), "wrong_shape"),
        ('"' + "a" * 300_000 + '"', "too_long"),
    ],
)
def test_anything_else_is_a_typed_failure_that_keeps_the_text(text: str, kind: str) -> None:
    failure = parse_report(text)
    assert isinstance(failure, ParseFailure)
    assert (failure.kind, failure.text) == (kind, text)


@given(st.text())
def test_no_text_makes_the_parser_raise_or_read_no_errors_by_mistake(text: str) -> None:
    found = parse_report(text)
    assert isinstance(found, ParseFailure) or json.loads(text)["errors"] in ([], None)


def test_a_failure_names_the_field() -> None:
    failure = parse_report(json.dumps({"errors": [GOOD, GOOD | {"severity": "grave"}]}))
    assert isinstance(failure, ParseFailure)
    assert failure.message.startswith("errors.1.severity")
