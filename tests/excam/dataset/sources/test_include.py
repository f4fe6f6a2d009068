"""INCLUDE: regional questions are cultural, agnostic science is ordinary."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write


def row(**more: Any) -> dict[str, Any]:
    return {
        "language": "Basque",
        "country": "Spain",
        "domain": "Arts & Humanities",
        "subject": "Literature",
        "regional_feature": "culture",
        "level": "Academic",
        "question": "Nor da bertsolaria?",
        "option_a": "Lujanbio",
        "option_b": "Ibsen",
        "option_c": "Borges",
        "option_d": "Tagore",
        "answer": 0,
        **more,
    }


@pytest.mark.parametrize("feature", ["culture", "region explicit", "region implicit"])
def test_regional_questions_are_cultural(write: Write, load: Load, feature: str) -> None:
    write("include/Basque/test-00000-of-00001.parquet", [row(regional_feature=feature)])
    item = load("include").only
    assert (item.gold, item.wrong) == ("Lujanbio", ("Ibsen", "Borges", "Tagore"))
    assert (item.country, item.language, item.topic, item.cultural) == ("ES", "eu", "Literature", True)


def test_agnostic_science_is_ordinary_and_other_agnostic_questions_are_left_out(write: Write, load: Load) -> None:
    science = row(regional_feature="region agnostic", domain="STEM", question="Zer da masa?")
    write("include/test.jsonl", [science, row(regional_feature="region agnostic")])
    loaded = load("include")
    assert (loaded.only.cultural, loaded.only.country) == (False, None)
    assert loaded.reasons == ["left out: neither about a region nor natural science"]


def test_older_files_with_one_list_of_choices_and_letters_are_read(write: Write, load: Load) -> None:
    old = {key: value for key, value in row(answer="B").items() if not key.startswith("option_")}
    write("include/test.jsonl", [{**old, "language": "Dutch; Flemish", "choices": ["a1", "b2", "c3", "d4"]}])
    assert (load("include").only.gold, load("include").only.language) == ("b2", "nl")


@pytest.mark.parametrize("name", ["Bengali", "Bangla"])
def test_both_names_of_a_language_are_known(write: Write, load: Load, name: str) -> None:
    write("include/test.jsonl", [row(language=name)])
    assert load("include").only.language == "bn"


@pytest.mark.parametrize(
    ("broken", "reason"),
    [
        (row(answer=7), "answer: 7 for 4 options"),
        (row(option_b="lujanbio"), "options: an option stands twice"),
        (row(language="Elvish"), "language: 'Elvish' is not a language we know"),
        (row(question=None), "question: Input should be a valid string"),
        (row(option_c=""), "options.2: String should have at least 1 character"),
    ],
)
def test_broken_rows_are_named(write: Write, load: Load, broken: dict[str, Any], reason: str) -> None:
    write("include/test.jsonl", [broken])
    assert load("include").reasons == [reason]
