from __future__ import annotations

from collections.abc import Callable

import pytest

from excam.dataset.entities import home_of, lexicons
from excam.dataset.item import Item

MakeItem = Callable[..., Item]


def _found(language: str, text: str) -> list[tuple[str, str]]:
    return [(text[mention.start : mention.end], mention.country) for mention in lexicons()[language].mentions(text)]


@pytest.mark.parametrize(
    ("language", "text", "found"),
    [
        ("de", "Die deutschen Bäcker in Deutschland", [("deutschen", "DE"), ("Deutschland", "DE")]),
        ("de", "Das Deutschlandticket und der Bundestagswahlkampf", []),
        (
            "en",
            "African-Americans and Americans in the United States",
            [("Americans", "US"), ("the United States", "US")],
        ),
        ("he", "המס בישראל גבוה", [("ישראל", "IL")]),
        ("hi", "भारत में भारतीयों के लिए", [("भारत", "IN")]),
        ("ja", "日本人は日本で日本語を話す", [("日本人", "JP"), ("日本", "JP"), ("日本語", "JP")]),
        ("ko", "한국에서는 한국어를 쓴다", [("한국", "KR")]),
        ("ru", "Пельмени в России и россияне", [("в России", "RU")]),
    ],
)
def test_entities_are_whole_words_of_their_language(language: str, text: str, found: list[tuple[str, str]]) -> None:
    assert _found(language, text) == found


def test_an_ending_carries_over_to_the_other_word() -> None:
    lexicon = lexicons()["de"]
    (mention,) = lexicon.mentions("mit deutschem Brot")
    assert ("polnischem", "PL") in set(lexicon.others(mention))
    assert all(surface.endswith("em") and country != "DE" for surface, country in lexicon.others(mention))


def test_a_korean_name_gives_way_only_to_one_that_takes_the_same_particles() -> None:
    lexicon = lexicons()["ko"]
    (mention,) = lexicon.mentions("서울은 크다")
    surfaces = {surface for surface, _ in lexicon.others(mention)}
    assert "런던" in surfaces
    assert "도쿄" not in surfaces


def test_every_kind_offers_at_least_two_countries() -> None:
    for language, lexicon in lexicons().items():
        for kind, countries in lexicon.kinds.items():
            assert len(countries) >= 2, (language, kind)


def test_the_country_of_a_text_is_its_sources_word_or_the_only_one_named(make_item: MakeItem) -> None:
    english = lexicons()["en"]
    assert home_of(make_item(country="PE"), english) == "PE"
    asked = make_item(
        country=None, question="Why do people in Japan bow?", gold="It is polite, unlike in Italy or Spain."
    )
    assert home_of(asked, english) == "JP"
    assert (
        home_of(make_item(country=None, question="Why bow?", gold="In Japan and in India it is polite."), english)
        is None
    )
