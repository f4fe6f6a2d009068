"""Fields of ten megabytes: whatever looks at a text before the judge does bounded work on it, and nothing fails."""

from __future__ import annotations

import pytest

from excam.country import LOOKED_AT as NAMES_LOOKED_AT
from excam.country import country_of
from excam.mapping import RecordMapping
from excam.outcome import outcome_table
from excam.pair import LoggedPair
from excam.report import CulturalError, ErrorReport, Location, ParseFailure, Severity, parse_report
from excam.span import locate
from excam.surface import LOOKED_AT, repeats
from pipelines.screen import Screening, screen_record
from pipelines.units import Sampling

MANY = 10_000_000
HUGE = {
    "words": "lorem ipsum dolor " * (MANY // 18),
    "one letter": "a" * MANY,
    "signs": "a@" * (MANY // 2),
    "no end of quotes": "`" * MANY,
    "marks on one letter": "a" + "\u0301" * (MANY // 2),
    "nothing to see": "\u200b" * (MANY // 3) + "x",
    "backwards": "\u202e" * (MANY // 3),
    "line ends": "\n" * MANY + "x",
}
SCREENING = Screening(RecordMapping(), Sampling(), gate=True)


@pytest.mark.parametrize("kind", list(HUGE))
def test_a_pair_with_ten_megabytes_in_a_half_is_screened(kind: str) -> None:
    record = {"prompt": "How is rice eaten in Japan?", "answer": HUGE[kind], "ts": 1.7e9, "country": HUGE[kind]}
    row = screen_record(record, {"source": "log", "part": 0, "row": 0}, SCREENING)
    assert row is not None
    assert row["kind"] in ("pending", "verdict")
    assert outcome_table([row]).num_rows == 1


def test_names_and_repetition_are_looked_for_at_the_beginning_only() -> None:
    assert country_of("x " * NAMES_LOOKED_AT + "Japan", "").countries == ()
    assert country_of("Japan " + "x " * NAMES_LOOKED_AT, "").countries == ("JP",)
    tail = " ".join(f"w{number}" for number in range(30)) + ". "
    assert repeats(tail * 5)
    assert not repeats("".join(f"{number} " for number in range(LOOKED_AT // 2)) + tail * 5)


def test_more_than_a_pair_may_hold_is_a_bad_field() -> None:
    found = RecordMapping().read({"prompt": "a" * 20_000_001, "answer": "b", "ts": 1.7e9})
    assert not isinstance(found, LoggedPair)
    assert found.field == "instruction"


@pytest.mark.parametrize("span", ["a phrase that is not there", "a " * 900, " \n" * 900 + "x", "\u0301" * 1900])
def test_a_span_is_looked_for_in_ten_megabytes(span: str) -> None:
    error = CulturalError(severity=Severity.MINOR, type="t", location=Location.OUTPUT, span=span, explanation="e")
    for text in (HUGE["words"], HUGE["one letter"], HUGE["line ends"]):
        place = locate(error, "", text)
        assert place.how == "not_found" or 0 <= place.start < place.end <= len(text)


def test_a_report_of_ten_megabytes_is_a_failure_that_was_not_parsed() -> None:
    found = parse_report('{"errors": [' + " " * MANY + "]}")
    assert isinstance(found, ParseFailure)
    assert found.kind == "too_long"
    assert isinstance(parse_report('{"errors": [' + " " * 100_000 + "]}"), ErrorReport)
