"""The atlas as it ships, and how it enters a build: train alone, and nothing that is like what dev or test ask."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from excam.country import normalise
from excam.dataset.atlas import FACTS, TITLES, atlas_items, choices, everyday, opinions, unlike
from excam.dataset.atlas.lines import read_lines
from excam.dataset.atlas.rewordings import read_rewordings
from excam.dataset.balance import choose
from excam.dataset.build import Built, build
from excam.dataset.duplicates import SIMILAR
from excam.dataset.lengths import even
from excam.dataset.profile import PROFILES, Profile
from tests.excam.dataset.conftest import MakeItem

PARTS = [("everyday", 1, 16_000), ("customs", 1, 35_000), ("school", 3, 2900), ("opinions", 0, 8000)]


@pytest.mark.parametrize(("name", "question", "fewest"), PARTS)
def test_no_question_stands_twice(name: str, question: int, fewest: int) -> None:
    asked = Counter(line.fields[question].casefold() for line in read_lines(FACTS / name, 3))
    assert len(asked) >= fewest
    assert [text for text, count in asked.items() if count > 1] == []


@pytest.mark.parametrize(("name", "question", "fields"), [("everyday", 1, 1), ("customs", 1, 2), ("opinions", 0, 1)])
def test_every_rewording_is_of_a_question_that_stands_and_in_words_of_its_own(
    name: str, question: int, fields: int
) -> None:
    asked = {line.fields[question] for line in read_lines(FACTS / name, 3)}
    again = read_rewordings(FACTS / "rewordings" / name, fields)
    assert len(again) > 3000
    assert not again.keys() - asked
    new = {others[0] for others in again.values()}
    assert not new & asked
    assert len(new) == len(again)
    if name == "everyday":
        assert [text for text in new if text.count("{place}") != 1] == []


def test_every_choice_and_opinion_that_ships_can_be_read() -> None:
    assert len({item.language for item in choices.read_school(FACTS / "school")}) == 16
    assert len(list(choices.read_customs(FACTS / "customs"))) > 25_000
    assert len(list(opinions.read(FACTS / "opinions"))) > 140_000


def test_everyday_life_that_ships_can_be_read(tmp_path: Path) -> None:
    lines = ["|".join(line.fields) for line in read_lines(FACTS / "everyday", 3)]
    some = lines[::50]  # what is wrong where takes a minute to find out for all of them
    (tmp_path / "some.txt").write_text("\n".join(some), "utf-8")
    assert len({item.group for item in everyday.read(tmp_path)}) > 0.9 * len(some)
    codes = {cell.partition("=")[0] for line in lines for cell in line.split("|")[2:]}
    assert not [code for code in codes if code not in {"JB", "AS"} and normalise(code) != code]


@pytest.mark.parametrize("part", ["customs", "school"])
def test_the_right_choice_does_not_stand_out_by_its_length(part: str) -> None:
    read = choices.read_customs if part == "customs" else choices.read_school
    items = list(read(FACTS / part))
    longest = sum(len(item.gold) > max(map(len, item.wrong)) for item in items)
    shortest = sum(len(item.gold) < min(map(len, item.wrong)) for item in items)
    assert longest / len(items) < 0.4
    assert shortest / len(items) < 0.4


@pytest.mark.parametrize("source", [choices.CUSTOMS, choices.SCHOOL])
def test_a_build_evens_the_lengths_of_what_was_written_as_choices(source: str) -> None:
    appetite = PROFILES["full"].of(source)
    again = read_rewordings(FACTS / "rewordings" / "customs", 2)
    customs = source == choices.CUSTOMS
    items = list(choices.read_customs(FACTS / "customs", again) if customs else choices.read_school(FACTS / "school"))
    kept = even(choose(items, 0, appetite.rounds, appetite.twins))
    longer, shorter = (
        sum(sign * (len(choice.item.gold) - len(choice.wrong)) > 0 for choice in kept) for sign in (1, -1)
    )
    assert appetite.even
    assert abs(longer - shorter) < 0.02 * len(kept)
    assert len(kept) > 1.5 * len(items), "most twins stay"


def test_a_question_like_one_held_out_is_left_out(make_item: MakeItem) -> None:
    held = make_item(item_id="h", group="h", question="What do people in Peru eat on the first day of the year?")
    near = make_item(item_id="n", group="n", question="What do the people in Peru eat on the first day of the year?")
    far = make_item(item_id="f", group="f", question="Who opens the dance at a wedding in Peru?")
    assert unlike([near, far], [held], SIMILAR) == [far]


def test_the_atlas_is_in_train_alone_and_changes_no_other_row(
    built: Built, small_sources: Path, small_profile: Profile, tmp_path: Path
) -> None:
    facts = {
        "everyday": "Food|What bread is eaten on Sundays in {place}?|US=bagels|GB=toast|MX=tortillas|IR=lavash",
        "customs": "GR|Who brings presents to Greek children?|Saint Basil|Saint Nicholas|Befana",
        "school": "el|GR|History|Πότε έγινε η μάχη του Μαραθώνα;|490 π.Χ.|480 π.Χ.|431 π.Χ.",
        "opinions": "Is work a duty towards others?|yes;no|ES=2|JP=1",
    }
    for name, line in facts.items():
        (tmp_path / "facts" / name).mkdir(parents=True)
        (tmp_path / "facts" / name / "some.txt").write_text(line, "utf-8")
    appetite = small_profile.appetite | {choices.CUSTOMS: PROFILES["full"].of(choices.CUSTOMS)}
    profile = replace(small_profile, atlas=tmp_path / "facts", appetite=appetite)
    with_atlas = build(small_sources, tmp_path / "out", profile, seed=3)

    def rows(found: Built, split: str) -> list[dict[str, object]]:
        table = pq.read_table(found.folder / f"{split}.parquet")
        return [{**row, "weight": None} for row in table.to_pylist()]

    assert rows(with_atlas, "dev") == rows(built, "dev")
    assert rows(with_atlas, "test") == rows(built, "test")
    added = [row for row in rows(with_atlas, "train") if row["source"] in TITLES]
    assert [row for row in rows(with_atlas, "train") if row["source"] not in TITLES] == rows(built, "train")
    assert {row["source"] for row in added} == set(TITLES)
    assert {str(row["item_id"]) for row in added} == {item.item_id for item in atlas_items(tmp_path / "facts")}
    customs = Counter(row["task"] for row in added if row["source"] == choices.CUSTOMS)
    assert customs == {"qa_options": 2, "freeform_qa": 2}, "two wrong answers, each a twin in one of the two tasks"
    assert "atlas: customs of 70 countries" in (with_atlas.folder / "card.md").read_text("utf-8")
