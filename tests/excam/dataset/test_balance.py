from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence

from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset.balance import Choice, answer_key, choose, draw, tolerance, usable
from excam.dataset.item import Item, Task

MakeItem = Callable[..., Item]


def excess(choices: Sequence[Choice]) -> dict[str, tuple[int, int]]:
    """How often each answer is right and how often wrong."""
    right = Counter(answer_key(choice.item.gold) for choice in choices)
    wrong = Counter(answer_key(choice.wrong) for choice in choices)
    return {answer: (right[answer], wrong[answer]) for answer in right | wrong}


WORDS = st.sampled_from(["rice", "bread", "tea", "coffee", "soup", "Bread ", "tea."])


def _item(number: int, gold: str, wrong: list[str]) -> Item:
    return Item(
        item_id=f"s:{number}", group=f"g:{number}", source="s", task=Task.FREEFORM_QA, question=f"Question {number}?",
        gold=gold, wrong=tuple(wrong), language="en",
    )  # fmt: skip


ITEMS = st.lists(st.tuples(WORDS, st.lists(WORDS, max_size=5)), max_size=40).map(
    lambda rows: [_item(number, gold, wrong) for number, (gold, wrong) in enumerate(rows)]
)


@given(ITEMS, st.integers(1, 3), st.integers(1, 2), st.integers(0, 50))
@settings(max_examples=60, deadline=None)
def test_choices_are_wrong_answers_of_their_item_and_within_bounds(
    items: list[Item], rounds: int, repeats: int, most: int
) -> None:
    choices = choose(items, 1, rounds, most, repeats)
    assert len(choices) <= most
    assert len({(choice.item.item_id, choice.wrong, choice.turn) for choice in choices}) == len(choices)
    assert all(choice.wrong in usable(choice.item) for choice in choices)
    assert max(Counter(choice.item.item_id for choice in choices).values(), default=0) <= rounds
    assert max(Counter((choice.item.item_id, choice.wrong) for choice in choices).values(), default=0) <= repeats


@given(ITEMS)
@settings(max_examples=40, deadline=None)
def test_the_order_of_items_decides_nothing(items: list[Item]) -> None:
    assert sorted(map(repr, choose(items, 1, 2, 99))) == sorted(map(repr, choose(items[::-1], 1, 2, 99)))
    assert draw(items, 1, 2, 99) == draw(items[::-1], 1, 2, 99)


@given(ITEMS, st.integers(1, 3), st.integers(0, 50))
@settings(max_examples=40, deadline=None)
def test_drawn_at_random_every_item_is_served_before_any_is_served_twice(
    items: list[Item], rounds: int, most: int
) -> None:
    drawn = draw(items, 1, rounds, most)
    assert len({(choice.item.item_id, choice.wrong) for choice in drawn}) == len(drawn) <= most
    assert all(choice.wrong in usable(choice.item) for choice in drawn)
    served = Counter(choice.item.item_id for choice in drawn)
    assert max(served.values(), default=0) <= rounds
    if max(served.values(), default=0) > 1:
        assert set(served) == {item.item_id for item in items if usable(item)}


def test_drawn_at_random_an_answer_stays_as_often_right_as_it_is() -> None:
    items = [_item(number, "Yes" if number % 4 else "No", ["No" if number % 4 else "Yes"]) for number in range(400)]
    assert excess(draw(items, 0, 1, 10_000))["yes"] == (300, 100)


def test_a_lopsided_question_is_brought_into_balance() -> None:
    items = [_item(number, "Yes" if number % 4 else "No", ["No" if number % 4 else "Yes"]) for number in range(400)]
    found = excess(choose(items, 0, 2, 10_000, repeats=2))
    right, wrong = found["yes"]
    assert abs(right - wrong) <= tolerance(right + wrong)
    assert right >= 180, "the rare answer is repeated before the common one is dropped"


def test_an_answer_popular_everywhere_is_not_always_right() -> None:
    own = [f"dish {number}" for number in range(60)]
    items = [_item(number, own[number], [own[(number + step) % 60] for step in range(1, 8)]) for number in range(60)]
    items += [_item(100 + number, "rice", own[:7]) for number in range(60)]
    items = [
        item if item.gold == "rice" else item.model_copy(update={"wrong": (*item.wrong, "rice")}) for item in items
    ]
    right, wrong = excess(choose(items, 0, 3, 10_000))["rice"]
    assert wrong >= 0.8 * right


def test_one_wrong_answer_against_another_keeps_every_option_of_a_unique_question() -> None:
    items = [
        _item(number, f"right {number}", [f"wrong {number} {place}" for place in range(3)]) for number in range(50)
    ]
    assert len(choose(items, 0, 3, 10_000)) == 150


def test_answers_that_cannot_be_shown_are_not_usable(make_item: MakeItem) -> None:
    item = make_item(gold="Tea", wrong=("tea", "TEA.", "", " ", "x" * 301, "coffee", "Coffee!"), options=())
    assert usable(item) == ["coffee"]
