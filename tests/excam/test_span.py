"""Spans are found where they stand, however nearly the judge quoted them."""

from __future__ import annotations

import time
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.report import CulturalError, Location, Severity
from excam.span import LocatedSpan, locate

TEXT = "In Bali, Galungan is  celebrated\nevery ten years with fireworks."


def error(span: str, location: Location = Location.OUTPUT) -> CulturalError:
    return CulturalError(severity=Severity.MINOR, type="t", location=location, span=span, explanation="e")


@pytest.mark.parametrize(
    ("span", "quoted", "how"),
    [
        ("every ten years", "every ten years", "exact"),
        ("IS CELEBRATED every", "is  celebrated\nevery", "loose"),
        ("Galungann is celebrated every ten year", "Galungan is  celebrated\nevery ten year", "fuzzy"),
    ],
)
def test_a_span_is_found_exactly_then_loosely_then_fuzzily(span: str, quoted: str, how: str) -> None:
    place = locate(error(span), "What is Galungan?", TEXT)
    assert place.how == how
    assert TEXT[place.start : place.end].strip() == quoted


def test_a_span_that_is_nowhere_is_marked_as_not_found() -> None:
    assert locate(error("Songkran water fights"), "q", TEXT) == LocatedSpan(Location.OUTPUT, -1, -1, "not_found")


def test_a_span_in_the_other_half_is_found_there() -> None:
    place = locate(error("What is Galungan", Location.OUTPUT), "What is Galungan?", "A feast.")
    assert (place.location, place.start, place.how) == (Location.INSTRUCTION, 0, "exact")


def test_the_stated_half_comes_first_when_both_hold_the_span() -> None:
    assert locate(error("tea", Location.INSTRUCTION), "tea", "tea").location is Location.INSTRUCTION
    place = locate(error("Eid al-Fitr", Location.OUTPUT), "When is Eid al-Fitr?", "At Easter: eid  al-fitr is spring.")
    assert place == LocatedSpan(Location.OUTPUT, 11, 23, "loose"), "the judge knows what it speaks of, not its capitals"


@given(st.text(min_size=1), st.text(), st.text())
def test_offsets_always_lie_inside_the_text(span: str, instruction: str, output: str) -> None:
    place = locate(error(span), instruction, output)
    text = instruction if place.location is Location.INSTRUCTION else output
    assert place.how == "not_found" or 0 <= place.start < place.end <= len(text)


def test_a_huge_text_is_searched_in_bounded_time() -> None:
    begun = time.process_time()
    for text in ("lorem ipsum dolor " * 120_000, "лорем ипсум " * 160_000):
        for number in range(3):
            assert locate(error(f"a phrase that is not there at all, {number}"), "", text).how == "not_found"
    assert time.process_time() - begun < 3


def test_a_long_text_is_searched_at_both_ends_which_are_what_a_judge_reads() -> None:
    text = f"{TEXT}{'x ' * 200_000}{TEXT.replace('ten', 'six')}"
    for span, how in (("EVERY six years", "loose"), ("Galungann is celebrated every six year", "fuzzy")):
        place = locate(error(span), "q", text)
        assert place.how == how
        assert "six year" in text[place.start : place.end]


@pytest.mark.parametrize(
    ("span", "text", "marked"),
    [
        ("India", "Indian food: in India, all eat beef", "in *India*,"),
        ("india", "Indian food: in India, all eat beef", "in *India*,"),
        ("(India)", "so Indian (India) they say", "n *(India)* "),
        ("Ind", "Indian food", "*Ind*"),
        ("饺子", "他们吃饺子和面", "吃*饺子*和"),
    ],
)
def test_a_span_is_marked_where_it_stands_as_words_and_inside_another_only_where_it_does_not(
    span: str, text: str, marked: str
) -> None:
    place = locate(error(span), "q", text)
    assert marked in f"{text[: place.start]}*{text[place.start : place.end]}*{text[place.end :]}"


@pytest.mark.parametrize("words", ["ở Việt Nam", "설날에 송편을", "São João", "おがわ"])
def test_a_span_is_found_whatever_the_form_of_its_accents(words: str) -> None:
    told = f"🍚 It is {words}, they say."
    for text, span in ((normalize("NFD", told), words), (told, normalize("NFD", words))):
        place = locate(error(span), "q", text)
        assert normalize("NFC", text[place.start : place.end]) == words
        assert place.how == "loose"
