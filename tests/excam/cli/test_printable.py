"""Logged text on a terminal: visible, harmless, and marked in the right place."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.cli.marked import Mark, marked
from excam.cli.printable import printable, shortened


@pytest.mark.parametrize(
    ("logged", "shown"),
    [
        ("\x1b[2J\x1b]0;owned\x07", "\\x1b[2J\\x1b]0;owned\\x07"),
        ("abc\u202edcba", "abc\\u202edcba"),
        ("a\x9bc", "a\\x9bc"),
        ("hid\U000e0041den", "hid\\U000e0041den"),
        ("nul\0", "nul\\x00"),
        ("line\r\nend", "line\\r\\nend"),
        ("می‌خواهم 👩‍👧 নমস্কার", "می‌خواهم 👩‍👧 নমস্কার"),
        ("\ud800", "\\ud800"),
    ],
)
def test_what_could_steer_a_terminal_or_hide_is_written_out(logged: str, shown: str) -> None:
    assert printable(logged) == shown


@given(st.text(st.characters(exclude_categories=[])))
@settings(max_examples=60)
def test_nothing_that_controls_is_left_in_any_text(text: str) -> None:
    shown = printable(text, lines=True)
    assert {unicodedata.category(character) for character in shown} & {"Cc", "Cs", "Zl", "Zp"} <= (
        {"Cc"} if "\n" in text else set()
    )
    assert "\x1b" not in shown
    assert shown.count("\n") == text.count("\n")


def test_long_text_becomes_one_short_line() -> None:
    assert shortened("one\n two   three", 40) == "one two three"
    assert shortened("x" * 100, 10) == "x" * 9 + "…"


def test_spans_are_bracketed_and_numbered() -> None:
    shown = marked("Eat with the left hand.", [Mark(1, 13, 22, "major")])
    assert shown.plain == "Eat with the [1: left hand]."
    assert [str(span.style) for span in shown.spans] == ["bold red"] * 3


def test_offsets_count_the_logged_characters_even_before_escapes() -> None:
    assert marked("\x1b\0🍚 bad", [Mark(1, 4, 7, "minor")]).plain == "\\x1b\\x00🍚 [1: bad]"


def test_overlapping_and_touching_marks_are_all_shown() -> None:
    shown = marked("abcdef", [Mark(1, 0, 4, "minor"), Mark(2, 2, 6, "major"), Mark(3, 4, 6, "minor")])
    assert shown.plain == "[1: ab[2: cd][3: ef]]"


@given(st.text(), st.lists(st.tuples(st.integers(-5, 40), st.integers(-5, 40))))
@settings(max_examples=60)
def test_marks_outside_the_text_are_left_out_and_no_mark_loses_text(text: str, places: list[tuple[int, int]]) -> None:
    marks = [Mark(number, start, end, "major") for number, (start, end) in enumerate(places)]
    shown = marked(text, marks).plain
    inside = [mark for mark in marks if 0 <= mark.start < mark.end <= len(text)]
    extra = sum(len(f"[{mark.number}: ]") for mark in inside)
    assert len(shown) == len(printable(text, lines=True)) + extra
