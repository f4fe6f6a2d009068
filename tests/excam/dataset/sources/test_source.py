"""Sources say where they are, collapse what they say twice, and drop what they contradict."""

from __future__ import annotations

from pathlib import Path

from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources import SOURCES
from excam.dataset.sources.grouping import Groups
from excam.dataset.sources.ordering import show, spread
from excam.dataset.sources.source import settle


def item(
    number: int, gold: str, wrong: tuple[str, ...] = ("no",), task: Task = Task.QA_OPTIONS, group: str = "g"
) -> Item:
    options = (gold, *wrong) if task is Task.QA_OPTIONS else ()
    return Item(
        item_id=f"s:{number}",
        group=group,
        source="s",
        task=task,
        question="Who?",
        gold=gold,
        options=options,
        wrong=wrong,
        language="en",
    )


def test_all_sources_of_the_paper_are_there_with_their_terms_and_how_to_get_them() -> None:
    assert list(SOURCES)[:9] == [
        *("blend", "culturalbench", "include", "mango", "globalopinionqa", "nativqa", "normad", "calmqa", "epic"),
    ]
    assert {name for name, source in SOURCES.items() if source.evaluation_only} == {"culturall", "msqa"}
    assert all(source.name == name and source.licence and source.title for name, source in SOURCES.items())
    assert all(f"{name}/" in source.get_it for name, source in SOURCES.items())


def test_a_source_that_is_not_at_hand_gives_no_files_and_no_items(tmp_path: Path) -> None:
    for source in SOURCES.values():
        assert source.find(tmp_path) == []
        assert list(source.load(tmp_path)) == []


def test_records_that_ask_the_same_collapse() -> None:
    assert list(settle([item(1, "tea"), item(2, "tea")])) == [item(1, "tea")]


def test_records_that_contradict_each_other_are_all_dropped_and_named() -> None:
    bad = list(settle([item(1, "tea", ("milk",)), item(2, "milk", ("tea",)), item(3, "tea", ("milk",))]))
    assert [record.place.split()[0] for record in bad if isinstance(record, BadRecord)] == ["s:1", "s:2", "s:3"]


def test_two_different_long_answers_are_both_kept() -> None:
    answers = [item(1, "Because.", (), Task.FREEFORM_QA), item(2, "Therefore.", (), Task.FREEFORM_QA)]
    assert list(settle(answers)) == answers


def test_joined_groups_have_one_name_whatever_the_order() -> None:
    links = [("a", "b"), ("c", "d"), ("b", "c"), ("x", "y")]
    for order in (links, links[::-1]):
        groups = Groups()
        for link in order:
            groups.join(*link)
        assert {groups.name(key) for key in "abcd"} == {"a"}
        assert groups.name("y") == "x"


def test_the_place_of_the_right_answer_is_even() -> None:
    places = [show(f"s:{number}", "gold", ("w1", "w2", "w3")).index("gold") for number in range(2000)]
    assert all(430 < places.count(place) < 570 for place in range(4))


def test_the_place_stays_even_among_options_that_were_ordered_before() -> None:
    items = [item(number, "gold", tuple(f"w{n}" for n in range(9))) for number in range(2000)]
    places = [show(found.item_id, found.gold, found.wrong).index("gold") for found in spread(items)]
    assert all(430 < places.count(place) < 570 for place in range(4))


def test_the_first_wrong_option_is_about_as_often_wrong_as_it_is_right() -> None:
    golds = [f"answer {number}" for number in range(8)]
    items = [item(n, gold, tuple(other for other in golds if other != gold)) for n, gold in enumerate(golds)]
    firsts = [found.wrong[0] for found in spread(items)]
    assert max(firsts.count(gold) for gold in golds) <= 2
    assert all(sorted(new.wrong) == sorted(old.wrong) for new, old in zip(spread(items), items, strict=True))
