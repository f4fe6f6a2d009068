from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import pytest

from excam.dataset.item import Item, Task
from excam.dataset.templates import all_templates
from excam.dataset.wordsmith import Wordsmith

MakeItem = Callable[..., Item]


def test_options_are_shown_in_every_order_so_that_no_position_is_right(make_item: MakeItem) -> None:
    words, places = Wordsmith(1), Counter[int]()
    for turn in range(400):
        item = make_item(item_id=f"blend:{turn}")
        instruction, _ = words.say(item, Task.QA_OPTIONS, (item.gold, "natto"))
        lines = instruction.splitlines()[-4:]
        places[next(place for place, line in enumerate(lines) if "bread with avocado" in line)] += 1
    assert min(places.values()) > 70


@pytest.mark.parametrize("drink", ["tea", "bed", "all of the above"])
def test_options_gathered_for_a_twin_have_no_order_to_keep(make_item: MakeItem, drink: str) -> None:
    words, places = Wordsmith(1), Counter[int]()
    for turn in range(100):
        item = make_item(item_id=f"blend:{turn}", wrong=("natto", "ful medames", "croissant", drink))
        instruction, _ = words.say(item, Task.QA_OPTIONS, (item.gold, drink))
        lines = instruction.splitlines()[-4:]
        places[next(place for place, line in enumerate(lines) if "bread with avocado" in line)] += 1
    assert max(places.values()) < 50


@pytest.mark.parametrize(("option", "speaks"), [("A and C", True), ("(б) и (в)", True), ("a, b", True), ("yes", False)])
def test_an_option_speaks_of_others_by_their_letters(make_item: MakeItem, option: str, speaks: bool) -> None:
    item = make_item(options=("tea", "coffee", "water", option), gold="tea")
    asked = [Wordsmith(seed).say(item, Task.QA_OPTIONS, ("tea", "coffee"))[0].splitlines()[-4:] for seed in range(9)]
    kept = [all(line.endswith(text) for line, text in zip(lines, item.options, strict=True)) for lines in asked]
    assert all(kept) is speaks


def test_options_that_speak_of_others_keep_their_order(make_item: MakeItem) -> None:
    options = ("tea", "coffee", "all of the above", "water")
    for turn in range(20):
        item = make_item(item_id=f"blend:{turn}", gold="tea", wrong=options[1:], options=options)
        instruction, _ = Wordsmith(1).say(item, Task.QA_OPTIONS, ("tea", "coffee"))
        places = [instruction.index(option, len(item.question)) for option in options]
        assert places == sorted(places)


def test_a_source_without_options_gets_some_from_its_wrong_answers(make_item: MakeItem) -> None:
    item = make_item(options=(), wrong=("natto", "ful medames", "croissant", "congee", "muesli"))
    instruction, written = Wordsmith(1).say(item, Task.QA_OPTIONS, (item.gold, "muesli"))
    shown = [option for option in (item.gold, *item.wrong) if option in instruction]
    assert len(shown) == 4
    assert {item.gold, "muesli"} <= set(shown)
    assert [one.answer for one in written] == [item.gold, "muesli"]


def test_a_quarter_of_english_pairs_and_half_of_the_others_have_no_wrapper(make_item: MakeItem) -> None:
    for language, share in (("en", 1 / 4), ("ko", 1 / 2)):
        words, bare = Wordsmith(1), 0
        for turn in range(200):
            item = make_item(item_id=f"x:{turn}", language=language, task=Task.FREEFORM_QA)
            instruction, _ = words.say(item, Task.FREEFORM_QA, ("tea",))
            bare += instruction == item.question
        assert bare == 200 * share


def test_every_wording_is_used_about_equally_often(make_item: MakeItem) -> None:
    words, item = Wordsmith(1), make_item(question="QQQ", task=Task.FREEFORM_QA)
    known = all_templates()[Task.FREEFORM_QA].instructions
    uses = Counter(words.say(item, Task.FREEFORM_QA, ("tea",))[0] for _ in range(4 * len(known)))
    wrapped = [uses[pattern.replace("{question}", "QQQ")] for pattern in known]
    assert max(wrapped) - min(wrapped) <= 1
