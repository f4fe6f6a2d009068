"""Two answers are taken for one whenever somebody might have meant the same by them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset.sources.same_answer import Given, Synonyms


def covers(said: str, asked: str, *lists: list[str]) -> bool:
    return Given([said], Synonyms(lists)).covers(asked)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("kimchi", "Kimchi"),
        ("kimchi", "gimchi"),
        ("cancún", "Cancun"),
        ("tortillas", "tortilla"),
        ("rice", "fried rice"),
        ("ham and cheese sandwich", "sandwich"),
        ("play football", "playing soccer"),
        ("table tennis", "ping pong"),
        ("meat", "beef"),
        ("whisky", "alcohol"),
        ("chinese new year", "spring festival"),
        ("Nowruz", "novruz"),
        ("the beach", "beach"),
        ("08:00", "08:15"),
        ("30", "31"),
        ("béjaïa", "bejaia"),
    ],
)
def test_variants_count_as_given(said: str, asked: str) -> None:
    assert covers(said, asked)
    assert covers(asked, said)


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("kimchi", "injera"),
        ("tea", "coffee"),
        ("cricket", "baseball"),
        ("08:00", "14:00"),
        ("3", "5"),
        ("mother's day", "new day"),
    ],
)
def test_different_answers_do_not(said: str, asked: str) -> None:
    assert not covers(said, asked)


def test_names_annotators_gave_for_one_thing_are_learnt() -> None:
    assert not covers("fenugreek", "methi seeds")
    assert covers("fenugreek", "methi seeds", ["methi seeds", "fenugreek"])


def test_a_number_between_two_given_ones_is_given() -> None:
    given_numbers = Given(["20", "30"], Synonyms())
    assert given_numbers.covers("25")
    assert not given_numbers.covers("45")


def test_an_answer_without_a_letter_counts_as_given() -> None:
    assert covers("tea", "???")


@settings(deadline=None)
@given(st.text(max_size=40), st.text(max_size=40))
def test_nothing_one_can_write_raises_and_everything_covers_itself(one: str, other: str) -> None:
    said = Given([one], Synonyms([[one, other]]))
    said.covers(other)
    assert said.covers(one)
