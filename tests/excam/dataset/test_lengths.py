from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset.balance import RARE, Choice
from excam.dataset.item import Item, Task
from excam.dataset.lengths import even, length_step

TEXTS = st.integers(1, 60).map("x".__mul__)


def _choice(number: int, right: str, wrong: str) -> Choice:
    item = Item(
        item_id=f"s:{number}", group=f"g:{number}", source="s", task=Task.QA_OPTIONS, question=f"Question {number}?",
        gold=right, wrong=(wrong,), language="en",
    )  # fmt: skip
    return Choice(item, wrong)


def _steps(choices: list[Choice]) -> Counter[tuple[int, int]]:
    return Counter((length_step(choice.item.gold), length_step(choice.wrong)) for choice in choices)


CHOICES = st.lists(st.tuples(TEXTS, TEXTS), max_size=60).map(
    lambda rows: [_choice(number, right, wrong) for number, (right, wrong) in enumerate(rows)]
)


@given(CHOICES)
@settings(max_examples=60, deadline=None)
def test_of_two_lengths_the_right_answer_has_each_about_as_often(choices: list[Choice]) -> None:
    found = _steps(even(choices))
    assert all(count <= found[wrong, right] + RARE for (right, wrong), count in found.items())


@given(CHOICES)
@settings(max_examples=60, deadline=None)
def test_no_more_is_taken_back_than_that_needs_and_the_order_stays(choices: list[Choice]) -> None:
    kept, there = even(choices), _steps(choices)
    assert _steps(kept) == Counter({step: min(count, there[step[::-1]] + RARE) for step, count in there.items()})
    assert kept == [choice for choice in choices if choice in kept]


def test_answers_about_as_long_as_each_other_all_stay() -> None:
    choices = [_choice(number, "a cup of tea", "a pot of tea") for number in range(9)]
    assert even(choices) == choices


def test_what_was_chosen_first_stays() -> None:
    choices = [_choice(number, "long" * 8, "short") for number in range(9)]
    choices += [_choice(9 + number, "short", "long" * 8) for number in range(3)]
    assert even(choices) == [*choices[: 3 + RARE], *choices[9:]]
