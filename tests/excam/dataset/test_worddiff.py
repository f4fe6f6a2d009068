from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset.worddiff import changes, words

WORDS = st.lists(st.sampled_from("green tea is drunk at every wedding in this town".split()), min_size=2, unique=True)


@given(st.text())
@settings(deadline=None)
def test_words_stand_where_they_say(text: str) -> None:
    for word in words(text):
        assert text[word.start : word.end] == word.text


@given(st.text(), st.text())
@settings(deadline=None)
def test_every_change_is_verbatim_in_the_new_text(before: str, now: str) -> None:
    for change in changes(before, now):
        assert now[change.start : change.end] == change.now
        assert change.now
        assert change.before in before


@given(WORDS, st.data())
@settings(max_examples=50)
def test_one_exchanged_word_is_one_change(text: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(text) - 1))
    now = [*text[:place], "marzipan", *text[place + 1 :]]
    (change,) = changes(" ".join(text), " ".join(now))
    assert (change.now, change.before) == ("marzipan", text[place])


def test_the_number_of_differences_is_the_number_of_errors() -> None:
    before = "In Korea, families bow to their elders at Seollal and eat tteokguk."
    now = "In Korea, families shake hands with their elders at Seollal and eat ramen."
    found = changes(before, now)
    assert [(change.before, change.now) for change in found] == [("bow to", "shake hands with"), ("tteokguk", "ramen")]


def test_punctuation_is_no_difference() -> None:
    assert changes('He said: "Eat, now!"', "He said “Eat now”.") == []


def test_a_deletion_points_at_the_word_beside_it() -> None:
    (change,) = changes("Guests never wear shoes inside", "Guests wear shoes inside")
    assert (change.now, change.before) == ("Guests", "never")


def test_scripts_without_spaces_are_cut_finely() -> None:
    before, now = "日本では正月に餅を食べます。", "日本では正月に粽を食べます。"
    (change,) = changes(before, now)
    assert (change.now, change.before) == ("粽", "餅")


def test_a_text_that_lost_everything_has_no_span_to_show() -> None:
    assert changes("Something was here", "…") == []
