"""CaLMQA's two surface faults: another language than the question's, and 20 tokens in a row at least four times."""

from __future__ import annotations

import random
import time
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.surface import SEQUENCE, TIMES, Surface, repeats, surface_of

QUESTION = "Warum feiern die Menschen dieses Fest jedes Jahr im Herbst?"
ANSWER = "Sie feiern es, weil die Ernte dann eingebracht ist und alle Zeit haben."


def words(count: int, start: int = 0) -> str:
    return " ".join(f"w{number}" for number in range(start, start + count))


def test_a_clean_answer_has_neither_fault() -> None:
    assert surface_of(QUESTION, ANSWER) == Surface(wrong_language=False, repetition=False)


def test_an_answer_in_another_language_is_wrong() -> None:
    assert surface_of(QUESTION, "They celebrate it because the harvest is in by then.").wrong_language


def test_languages_known_already_are_taken_as_they_are() -> None:
    assert surface_of("", "", "de", "en").wrong_language
    assert not surface_of(QUESTION, "They celebrate the harvest.", output_language="de").wrong_language


@pytest.mark.parametrize("output", ["", "42", "True", "x = f(y);", "\ud800"])
def test_an_unknown_language_is_never_wrong(output: str) -> None:
    assert not surface_of(QUESTION, output).wrong_language


@pytest.mark.parametrize(("asked", "answered"), [("hr", "sr"), ("id", "ms"), ("no", "da"), ("rw", "rn")])
def test_languages_the_identifier_mistakes_for_each_other_are_not_held_against_an_answer(
    asked: str, answered: str
) -> None:
    assert not surface_of("", "", asked, answered).wrong_language


def test_twenty_tokens_four_times_is_repetition_and_three_times_is_not() -> None:
    sequence = words(SEQUENCE)
    assert repeats(" . ".join([sequence] * TIMES))
    assert not repeats(" . ".join([sequence] * (TIMES - 1)))


def test_nineteen_tokens_are_too_few() -> None:
    parts = [words(SEQUENCE - 1) + f" other{number}" for number in range(9)]
    assert not repeats(" ".join(parts))


def test_repetitions_may_lie_apart() -> None:
    parts = [words(SEQUENCE) + " " + words(30, start=100 * number) for number in range(1, TIMES + 1)]
    assert repeats(" ".join(parts))


def test_one_word_over_and_over_is_repetition() -> None:
    assert repeats("ha " * 23)
    assert not repeats("ha " * 22)


def test_scripts_without_spaces_are_counted_by_character() -> None:
    assert repeats("春天的花开在山上，我们一起去看美丽的风景吧今天。" * TIMES)
    assert not repeats("春天的花开在山上，我们一起去看美丽的风景吧今天。" * (TIMES - 1))


def test_a_ruler_or_a_table_frame_is_no_repetition() -> None:
    assert not repeats("-" * 500 + "\n" + "=" * 500)


def brute_force(numbers: list[int]) -> bool:
    sequences = Counter(tuple(numbers[at : at + SEQUENCE]) for at in range(len(numbers) - SEQUENCE + 1))
    return max(sequences.values(), default=0) >= TIMES


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=30), st.integers(1, 6), st.lists(st.integers(0, 3), max_size=40)
)
@settings(max_examples=100, deadline=None)
def test_it_agrees_with_counting_every_sequence(period: list[int], times: int, noise: list[int]) -> None:
    numbers = noise + period * times + noise
    assert repeats(" ".join(map(str, numbers))) == brute_force(numbers)


@given(
    st.text(st.characters(exclude_categories=()), max_size=300),
    st.text(st.characters(exclude_categories=()), max_size=300),
)
@settings(max_examples=60, deadline=None)
def test_no_text_can_crash_it(instruction: str, output: str) -> None:
    assert isinstance(surface_of(instruction, output), Surface)


@pytest.mark.parametrize("kind", ["repeated", "random", "one sign"])
def test_half_a_megabyte_is_looked_at_in_seconds(kind: str) -> None:
    text = {
        "repeated": words(26) * 6_000,
        "random": "".join(random.Random(1).choices("abcdefg ", k=500_000)),
        "one sign": "-" * 500_000,
    }[kind]
    started = time.process_time()
    assert repeats(text) == (kind == "repeated")
    assert time.process_time() - started < 10
