"""Hashed features depend on a pair's words and on nothing else: not on case, accents, digits or the pairs around it."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.relevance.features import BUCKETS, INSTRUCTION_HEAD, INSTRUCTION_TAIL, OUTPUT_HEAD, Pair, features

WILD = st.text(st.characters(exclude_categories=()), max_size=60)  # lone surrogates and NULs included
PAIRS = st.lists(st.tuples(WILD, WILD), max_size=8)


def of(instruction: str, output: str = "") -> list[int]:
    return sorted(features([(instruction, output)]).buckets.tolist())


@settings(max_examples=40)
@given(PAIRS)
def test_a_pair_has_the_same_features_alone_and_among_others(pairs: list[Pair]) -> None:
    together = features(pairs)
    assert together.pairs == len(pairs)
    for row, pair in enumerate(pairs):
        assert sorted(together.buckets[together.rows == row].tolist()) == of(*pair)


@settings(max_examples=40)
@given(PAIRS)
def test_every_feature_falls_into_a_bucket_and_belongs_to_a_pair(pairs: list[Pair]) -> None:
    found = features(pairs)
    assert len(found.buckets) == len(found.rows)
    assert np.all((found.buckets >= 0) & (found.buckets < BUCKETS))
    assert np.all((found.rows >= 0) & (found.rows < len(pairs)))
    assert np.all(found.norms() >= 1)


def test_case_accents_digits_and_punctuation_make_no_difference() -> None:
    assert of("CAFÉ, Noël!") == of("cafe noel")
    assert of("lunch at 18:00") == of("lunch at 07:30")
    assert of("ΓΙΟΡΤΉ") == of("γιορτη")


def test_other_words_other_orders_and_other_scripts_do() -> None:
    assert of("wedding guests") != of("wedding gifts")
    assert of("red envelope") != of("envelope red")
    assert of("한국") != of("하구")
    assert of("春节") != of("清明")


def test_words_that_begin_alike_share_their_stem() -> None:
    assert set(of("celebrate")) & set(of("celebration"))
    assert not set(of("celebrate")) & set(of("wedding"))


def test_scripts_without_spaces_are_read_by_characters_in_a_row() -> None:
    assert set(of("中秋节")) <= set(of("中国的中秋节是哪一天"))


def test_symbols_of_code_count_and_plain_punctuation_does_not() -> None:
    assert set(of("x = f ( y ) ;")) - set(of("x f y"))
    assert of("x, y!") == of("x y")


def test_a_pair_without_words_has_no_features() -> None:
    assert of("") == []
    assert of(" \n\t … ", "¿?") == []
    assert len(features([]).buckets) == 0


def test_only_the_beginning_and_the_end_of_a_long_text_are_read() -> None:
    head, tail = "festival " * INSTRUCTION_HEAD, "question " * INSTRUCTION_TAIL
    assert of(head + "middle " * 9 + tail) == of(head + "other " * 5000 + tail)
    assert of(head + "middle" + tail) != of(head + "middle" + "answer " * INSTRUCTION_TAIL)
    assert of("", "a" * OUTPUT_HEAD + " more") == of("", "a" * OUTPUT_HEAD)
