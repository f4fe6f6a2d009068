"""A spreadsheet shows what a log holds and runs none of it."""

from __future__ import annotations

import csv
import io

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.cli.output import print_csv
from excam.spreadsheet import FORMULA, inert

BEGINNINGS = "=+-@\t\r\n＝＋－＠"


@given(st.sampled_from(BEGINNINGS), st.text())
def test_a_formula_gets_a_quote_before_it(beginning: str, rest: str) -> None:
    assert inert(beginning + rest) == f"'{beginning}{rest}"


@given(st.text().filter(lambda text: not text.startswith(tuple(BEGINNINGS))))
def test_other_text_is_left_alone(text: str) -> None:
    assert inert(text) == text


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_arrow_finds_the_same_formulas(text: str) -> None:
    changed = pc.replace_substring_regex(pa.array([text]), pattern=FORMULA, replacement=r"'\1")
    assert changed[0].as_py() == inert(text)


def test_commands_that_print_csv_do_it_too_and_leave_numbers_alone(capsys: pytest.CaptureFixture[str]) -> None:
    print_csv(["pair_id", "score"], [{"pair_id": "=1+1", "score": -5.0}])
    (row,) = csv.DictReader(io.StringIO(capsys.readouterr().out))
    assert row == {"pair_id": "'=1+1", "score": "-5.0"}
