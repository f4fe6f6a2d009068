"""The real files, where ``EXCAM_SOURCES`` says they are: nothing in them may break a loader or slip through it."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path

import pytest

from excam.country import normalise
from excam.dataset.item import BadRecord, Item, Task
from excam.dataset.sources import SOURCES
from excam.dataset.sources.same_answer import plain

FOLDER = os.environ.get("EXCAM_SOURCES", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="EXCAM_SOURCES names no folder of sources")

Loaded = dict[str, list[Item | BadRecord]]
AT_LEAST = {
    "blend": 4500,
    "culturalbench": 950,
    "globalopinionqa": 6500,
    "normad": 1400,
    "calmqa": 800,
    "epic": 4000,
    "exams": 13000,
}


@pytest.fixture(scope="module")
def loaded() -> Loaded:
    started = time.process_time()
    found = {name: list(source.load(Path(FOLDER))) for name, source in SOURCES.items()}
    assert time.process_time() - started < 60
    return found


@pytest.fixture(scope="module")
def items(loaded: Loaded) -> list[Item]:
    return [outcome for outcomes in loaded.values() for outcome in outcomes if isinstance(outcome, Item)]


def test_each_source_at_hand_gives_about_what_it_holds(loaded: Loaded) -> None:
    at_hand = [name for name in AT_LEAST if SOURCES[name].find(Path(FOLDER))]
    counts = {name: sum(isinstance(outcome, Item) for outcome in loaded[name]) for name in at_hand}
    assert {name: count for name, count in counts.items() if count < AT_LEAST[name]} == {}


def test_ids_are_unique_and_every_item_belongs_to_its_source(items: list[Item]) -> None:
    assert max(Counter(item.item_id for item in items).values()) == 1
    assert all(
        item.item_id.startswith(f"{item.source}:") and item.group.startswith(f"{item.source}:") for item in items
    )


def test_no_wrong_option_is_the_right_one_and_what_is_shown_holds_the_right_one(items: list[Item]) -> None:
    for item in items:
        options = [plain(option) or option for option in (item.gold, *item.wrong)]
        assert len(set(options)) == len(options) or item.source == "exams", item
        assert item.gold not in item.wrong, item
        assert not item.options or item.gold in item.options, item
        assert set(item.options) <= {item.gold, *item.wrong} or item.task is Task.IMPERSONATION, item


def test_countries_are_codes_and_items_about_no_culture_have_none(items: list[Item]) -> None:
    countries = {item.country for item in items if item.country}
    assert {code for code in countries if len(code) != 2 or normalise(code) != code} == set()
    assert {item.country for item in items if not item.cultural} == {None}
    assert {item.source for item in items if not item.cultural} == {"calmqa", "exams"}


def test_the_nine_malformed_distributions_are_named(loaded: Loaded) -> None:
    reasons = [outcome.reason for outcome in loaded["globalopinionqa"] if isinstance(outcome, BadRecord)]
    assert sum(reason.startswith("distribution: ") for reason in reasons) == 9


def test_the_shown_place_of_the_right_answer_is_even(items: list[Item]) -> None:
    for source in ("blend", "culturalbench", "exams"):
        places = Counter(
            item.options.index(item.gold) for item in items if item.source == source and len(item.options) == 4
        )
        expected = sum(places.values()) / 4
        assert all(abs(places[place] - expected) < 0.15 * expected for place in range(4)), (source, places)


def test_loading_twice_gives_the_same(loaded: Loaded) -> None:
    for name in ("blend", "globalopinionqa", "normad"):
        assert list(SOURCES[name].load(Path(FOLDER))) == loaded[name]
