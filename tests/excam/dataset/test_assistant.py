from __future__ import annotations

from collections import Counter

from excam.dataset.assistant import all_families, assistant_items
from excam.dataset.assistant.languages import wordings
from excam.dataset.item import Task


def test_chores_come_in_many_languages_tasks_and_families() -> None:
    items = list(assistant_items(0, 3))
    assert len({item.language for item in items}) >= 9
    assert {item.task for item in items} == set(Task)
    assert len({item.group for item in items}) >= 150
    assert not any(item.cultural or item.country for item in items)


def test_every_wrong_answer_is_another_than_the_right_one() -> None:
    for item in assistant_items(1, 5):
        assert item.gold not in item.wrong
        assert not item.options or {item.gold, *item.wrong} == set(item.options)


def test_most_chores_have_a_wrong_answer_too() -> None:
    items = list(assistant_items(2, 3))
    assert sum(bool(item.wrong) for item in items) > 0.95 * len(items)


def test_sums_are_right() -> None:
    sums = [item for item in assistant_items(3, 8) if item.group.endswith("/sum")]
    assert len(sums) > 100
    for item in sums:
        numbers = [int(word) for word in "".join(c if c.isdigit() else " " for c in item.question).split()]
        assert str(sum(numbers)) in item.gold
        assert not any(str(sum(numbers)) in wrong.split() for wrong in item.wrong)


def test_every_language_has_every_kind_of_chore() -> None:
    kinds = {language: frozenset(table) for language, table in wordings().items()}
    assert len(kinds) >= 8
    assert len(set(kinds.values())) == 1


def test_names_are_unique_and_chores_depend_on_the_seed_alone() -> None:
    assert max(Counter(family.name for family in all_families()).values()) == 1
    assert list(assistant_items(4, 2)) == list(assistant_items(4, 2))
    assert list(assistant_items(4, 2)) != list(assistant_items(5, 2))
