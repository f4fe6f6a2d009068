"""Free-text error types fall into one small set of categories, whatever their wording."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.taxonomy import DESCRIPTIONS, Category, categorise


@pytest.mark.parametrize(
    ("error_type", "category"),
    [
        ("misrepresentation", Category.MISREPRESENTATION),
        ("stereotyping", Category.STEREOTYPING),
        ("incorrect information", Category.MISREPRESENTATION),
        ("lack of understanding", Category.NORMS_AND_VALUES),
        ("lack of understanding of cultural norms", Category.NORMS_AND_VALUES),
        ("misrepresenting cultural values", Category.NORMS_AND_VALUES),
        ("incorrect information about traditions", Category.PRACTICE),
    ],
)
def test_the_examples_of_the_excam_paper_are_placed(error_type: str, category: Category) -> None:
    assert categorise(error_type) == category


@pytest.mark.parametrize(
    ("error_type", "category"),
    [
        ("Cultural Practice, Belief, or Symbol Misidentification", Category.PRACTICE),
        ("Historical Event or Chronology Confusion", Category.HISTORY),
        ("Localized Term or Idiom Mismatch", Category.LANGUAGE),
        ("Numeric, Temporal, or Statistical Error", Category.FIGURES),
        ("Literal Translation or Expression Trap", Category.LANGUAGE),
        ("Institutional or Legal Reference Error", Category.INSTITUTION),
    ],
)
def test_the_six_types_of_msqa_are_placed(error_type: str, category: Category) -> None:
    assert categorise(error_type) == category


@pytest.mark.parametrize(
    ("error_type", "category"),
    [
        ("Stereotyping and misrepresentation", Category.STEREOTYPING),
        ("over-generalization", Category.STEREOTYPING),
        ("Overgeneralisation", Category.STEREOTYPING),
        ("ＳＴＥＲＥＯＴＹＰＩＮＧ", Category.STEREOTYPING),
        ("INCORRECT_INFORMATION", Category.MISREPRESENTATION),
        ("Cultural insensitivity", Category.NORMS_AND_VALUES),
        ("Culinary misrepresentation", Category.PRACTICE),
        ("Incorrect festival date", Category.FIGURES),
        ("wrong country", Category.MISREPRESENTATION),
    ],
)
def test_wording_does_not_matter_and_the_narrower_category_decides(error_type: str, category: Category) -> None:
    assert categorise(error_type) == category


@pytest.mark.parametrize("error_type", ["", "  ", "asdf", "termination", "warm", "Dishonesty", "country", "🤷"])
def test_what_says_nothing_known_is_other(error_type: str) -> None:
    assert categorise(error_type) == Category.OTHER


def test_there_are_at_most_nine_categories_and_each_has_one_line() -> None:
    assert len(Category) <= 9
    assert set(DESCRIPTIONS) == set(Category)
    assert all(text and "\n" not in text for text in DESCRIPTIONS.values())


@pytest.mark.parametrize("category", [category for category in Category if category is not Category.OTHER])
def test_a_category_named_by_itself_is_itself(category: Category) -> None:
    assert categorise(category.value) == category


@given(st.text(st.characters(exclude_categories=()), max_size=400))
@settings(deadline=None)
def test_no_wording_can_crash_it(error_type: str) -> None:
    assert isinstance(categorise(error_type), Category)
