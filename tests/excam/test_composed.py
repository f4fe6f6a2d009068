"""Letters in one form, whoever wrote them, and whatever was done to take long."""

from __future__ import annotations

import time
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.composed import MOST_MARKS, composed, composed_with_places
from excam.country import country_of
from excam.injection import speaks_to_judge

TEXTS = st.text(
    st.sampled_from("aeoEk ñéIİ\u0301\u0323\u0302\u0315가각ᄀ\u1161\u11a8がか\u3099ি\u09be\u09c7=🙂\n"), max_size=40
)


@given(TEXTS)
def test_a_text_is_composed_as_unicode_says(text: str) -> None:
    assert composed(text) == normalize("NFC", text)
    assert composed(text, "NFKC") == normalize("NFKC", text)


@given(TEXTS)
def test_every_composed_letter_knows_where_it_stood(text: str) -> None:
    whole, places = composed_with_places(text)
    assert whole == composed(text)
    assert len(places) == len(whole) + 1
    assert places == sorted(places)
    assert places[-1] == len(text)
    for place in set(places):
        assert composed(text[:place]) + composed(text[place:]) == whole


def test_no_letter_keeps_more_marks_than_any_script_has() -> None:
    assert composed("x" + "\u0301" * 5000 + "y") == "x" + "\u0301" * MOST_MARKS + "y"
    assert composed("=" * 5000 + "é") == "=" * 5000 + "é"


@pytest.mark.parametrize("search", [lambda text: country_of(text, ""), lambda text: speaks_to_judge(text, "")])
def test_a_letter_under_a_tower_of_marks_takes_no_time(search: object) -> None:
    assert callable(search)
    text = "a" + "\u0301" * 100_000 + "\u0323" * 100_000
    began = time.process_time()
    search(text)
    assert time.process_time() - began < 5
