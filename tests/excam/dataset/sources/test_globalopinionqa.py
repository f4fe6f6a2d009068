"""GlobalOpinionQA: the most common answer is the truth, if it leads clearly."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write

QUESTION = "Should shops in (survey country) close on holidays?"
OPTIONS = ["Yes", "No", "Some of them", "DK/Refused"]


def answered(shares: list[Any], country: str = "Kenya", options: list[str] = OPTIONS) -> dict[str, Any]:
    return {"country": country, "question": QUESTION, "options": options, "distribution": shares, "src": "x"}


def test_the_most_common_answer_stands_against_the_others(write: Write, load: Load) -> None:
    write("globalopinionqa/pairs.jsonl.gz", [answered([0.2, 0.6, 0.15, 0.05])])
    item = load("globalopinionqa").only
    assert (item.gold, set(item.wrong), item.options) == ("No", {"Yes", "Some of them"}, ("Yes", "No", "Some of them"))
    assert (item.country, item.role) == ("KE", "a typical person from Kenya")
    assert item.question == "Should shops in Kenya close on holidays?"


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (answered([0.4, 0.4, 0.1, 0.1]), "left out: a tie or near-tie between the most common answers"),
        (answered([0.44, 0.4, 0.1, 0.06]), "left out: a tie or near-tie between the most common answers"),
        (answered([0.1, 0.2, 0.1, 0.6]), "left out: most people gave no opinion or an answer that was not offered"),
        (answered([0.0, 0.0, 0.0, 0.0]), "distribution: shares add up to 0.00, not to 1"),
        (answered([0.5, 0.5]), "distribution: 2 shares for 4 options"),
        (answered([float("nan"), 0.5, 0.3, 0.2]), "distribution: shares add up to nan, not to 1"),
        (answered([1.0, 0.0, 0.0, 0.0], country="Narnia"), "country: 'Narnia' is not a country"),
        (answered([0.7, 0.3], options=["Yes", "Don't know"]), "left out: only one answer was offered"),
    ],
)
def test_what_has_no_clear_answer_or_no_sense_is_named(
    write: Write, load: Load, record: dict[str, Any], reason: str
) -> None:
    write("globalopinionqa/pairs.jsonl.gz", [record])
    loaded = load("globalopinionqa")
    assert (loaded.reasons, loaded.items) == ([reason], {})


def test_an_option_close_behind_the_lead_is_no_wrong_option(write: Write, load: Load) -> None:
    options = ["Yes", "No", "Both (VOL)", "Neither"]
    write("globalopinionqa/pairs.jsonl.gz", [answered([0.5, 0.3, 0.1, 0.1], options=options)])
    item = load("globalopinionqa").only
    assert set(item.wrong) == {"No", "Neither"}
    assert "Both (VOL)" not in item.options


def test_two_samples_of_one_country_that_disagree_are_both_dropped(write: Write, load: Load) -> None:
    national, other = (
        answered([0.8, 0.1, 0.1, 0.0]),
        answered([0.1, 0.8, 0.1, 0.0], country="Kenya (Non-national sample)"),
    )
    write("globalopinionqa/pairs.jsonl.gz", [national, other])
    loaded = load("globalopinionqa")
    assert loaded.items == {}
    assert loaded.reasons == ["answer: contradicts a record that asks the same"] * 2


def test_the_published_table_with_printed_python_values_is_read(write: Write, load: Load) -> None:
    selections = "defaultdict(<class 'list'>, {'Kenya': [0.2, 0.7, 0.1], 'S. Korea': [0.7, 0.2, 0.1]})"
    row = {"question": QUESTION, "selections": selections, "options": "['Yes', 'No', 'DK/Refused']", "source": "GAS"}
    write("globalopinionqa/global_opinions.csv", [row, {**row, "selections": "__import__('os')"}])
    loaded = load("globalopinionqa")
    assert {item.country: (item.gold, item.wrong) for item in loaded.items.values()} == {
        "KE": ("No", ("Yes",)),
        "KR": ("Yes", ("No",)),
    }
    assert len({item.group for item in loaded.items.values()}) == 1
    assert loaded.reasons == ["selections: Value error, is not a printed list or mapping"]
