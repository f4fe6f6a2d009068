"""What the three parts of the atlas make of a line."""

from __future__ import annotations

from pathlib import Path

import pytest

from excam.dataset.atlas import choices, everyday, opinions
from excam.dataset.item import Item, Task
from tests.excam.dataset.atlas.test_lines import written

BREAD = "Food|What bread is eaten in {place}?|US=bagels;rolls|GB=toast|MX=tortillas|IR=lavash;sangak|JB=toast"


@pytest.fixture
def bread(tmp_path: Path) -> list[Item]:
    return list(everyday.read(written(tmp_path, BREAD)))


def test_every_answer_of_a_region_is_right_there(bread: list[Item]) -> None:
    assert {(item.country, item.gold) for item in bread} == {
        *(("US", "bagels"), ("US", "rolls"), ("GB", "toast"), ("MX", "tortillas")),
        *(("IR", "lavash"), ("IR", "sangak"), ("ID", "toast")),
    }
    assert {item.question for item in bread if item.country == "ID"} == {"What bread is eaten in West Java?"}


def test_wrong_is_what_others_say_and_the_region_does_not(bread: list[Item]) -> None:
    toast = next(item for item in bread if item.country == "GB")
    assert set(toast.wrong) == {"bagels", "rolls", "tortillas", "lavash", "sangak"}
    assert all(not {"lavash", "sangak"} & set(item.wrong) for item in bread if item.country == "IR")
    assert toast.gold in toast.options
    assert set(toast.options) <= {toast.gold, *toast.wrong}


def test_regions_of_one_country_never_make_each_other_wrong(tmp_path: Path) -> None:
    items = everyday.read(written(tmp_path, "Food|What is eaten in {place}?|ID=soto|JB=karedok|GB=pie"))
    assert {(item.gold, item.wrong) for item in items if item.country == "ID"} == {
        ("soto", ("pie",)),
        ("karedok", ("pie",)),
    }


def test_all_answers_to_a_question_share_its_group(bread: list[Item]) -> None:
    assert len({item.group for item in bread}) == 1
    assert len({item.item_id for item in bread}) == len(bread)


def test_a_custom_is_multiple_choice(tmp_path: Path) -> None:
    [item] = choices.read_customs(written(tmp_path, "PL|What stands on a Polish table?|an empty seat|a rake|a drum"))
    assert (item.task, item.country, item.gold, item.wrong) == (
        *(Task.QA_OPTIONS, "PL"),
        *("an empty seat", ("a rake", "a drum")),
    )
    assert sorted(item.options) == ["a drum", "a rake", "an empty seat"]


def test_a_custom_put_in_other_words_is_another_item_of_its_group(tmp_path: Path) -> None:
    again = {"What stands on a Polish table?": ("Set for nobody at a Polish feast:", "one empty chair")}
    first, other = choices.read_customs(
        written(tmp_path, "PL|What stands on a Polish table?|an empty seat|a rake|a drum"), again
    )
    assert (other.question, other.gold, other.wrong) == (
        *("Set for nobody at a Polish feast:", "one empty chair"),
        ("a rake", "a drum"),
    )
    assert other.group == first.group
    assert other.item_id != first.item_id


def test_a_question_of_many_countries_is_put_in_both_wordings(tmp_path: Path) -> None:
    regions = ("US", "GB", "MX", "IR", "GR", "ES", "CN", "KR", "ET", "DZ")
    kinds = ("bagel", "toast", "tortilla", "lavash", "pita", "mollete", "mantou", "toseu", "injera", "kesra")
    breads = "|".join(f"{code}={kind}" for code, kind in zip(regions, kinds, strict=True))
    again = {"What bread is eaten in {place}?": ("The bread of {place}:",)}
    items = list(everyday.read(written(tmp_path, f"Food|What bread is eaten in {{place}}?|{breads}"), again))
    put = {item.country: item.question for item in items}
    assert {question.partition(" ")[0] for question in put.values()} == {"What", "The"}
    assert put["MX"] in {"What bread is eaten in Mexico?", "The bread of Mexico:"}
    assert len({item.group for item in items}) == 1
    opinion = "Is work a duty?|yes;no|" + "|".join(f"{code}=1" for code in regions)
    asked = opinions.read(written(tmp_path, opinion), {"Is work a duty?": ("Work is a duty: yes or no?",)})
    assert {item.question for item in asked} == {"Is work a duty?", "Work is a duty: yes or no?"}


def test_a_school_question_is_in_the_language_of_its_country(tmp_path: Path) -> None:
    [item] = choices.read_school(written(tmp_path, "pl|PL|History|Kiedy była bitwa pod Grunwaldem?|1410|1385|1525"))
    assert (item.language, item.country, item.topic) == ("pl", "PL", "History")
    assert (item.gold, item.wrong) == ("1410", ("1385", "1525"))


def test_an_opinion_is_that_of_a_typical_person(tmp_path: Path) -> None:
    one, other = opinions.read(written(tmp_path, "Is work a duty?|yes;no;it depends|NL=2|GH=1"))
    assert (one.task, one.role, one.gold, one.wrong) == (
        *(Task.IMPERSONATION, "a typical person from the Netherlands"),
        *("no", ("yes", "it depends")),
    )
    assert (other.country, other.gold, other.group) == ("GH", "yes", one.group)


def test_countries_beyond_the_regions_of_blend_may_be_asked_too(tmp_path: Path) -> None:
    items = list(everyday.read(written(tmp_path, "Food|What is drunk in {place}?|NL=coffee|JP=green tea|GB=milk tea")))
    assert {(item.country, item.question) for item in items} == {
        ("NL", "What is drunk in the Netherlands?"),
        ("JP", "What is drunk in Japan?"),
        ("GB", "What is drunk in the UK?"),
    }
