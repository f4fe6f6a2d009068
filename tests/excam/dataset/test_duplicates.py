from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import combinations
from unittest.mock import Mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset import duplicates
from excam.dataset.draw import stream
from excam.dataset.duplicates import SIMILAR, components, essence, jaccard, near_duplicates, shingles
from excam.dataset.item import Item
from excam.dataset.sources.grouping import Groups

MakeItem = Callable[..., Item]
SENTENCES = st.lists(
    st.sampled_from("people eat rice with fish at noon in winter near lakes while children sing old songs".split()),
    min_size=6, max_size=14,
).map(" ".join)  # fmt: skip


def test_the_same_question_in_slightly_other_words_is_one_component(make_item: MakeItem) -> None:
    one = make_item(group="a", question="At a dinner, Emily rested her feet on the table while everyone was chatting.")
    two = make_item(
        group="b", question="At the dinner, Emily rested her feet on the table while everyone was chatting!"
    )
    far = make_item(group="c", question="Why do people leave a little food on their plate?")
    found = components([one, two, far])
    assert found["a"] == found["b"] != found["c"]


def test_the_country_of_a_question_makes_no_other_question(make_item: MakeItem) -> None:
    one = make_item(group="a", question="Which fruit do people in Peru like?", country="PE")
    two = make_item(group="b", question="Which fruit do people in the Netherlands like?", country="NL")
    assert essence(one) == essence(two)
    assert len(set(components([one, two]).values())) == 1


def test_exam_questions_with_one_stem_and_other_options_are_different(make_item: MakeItem) -> None:
    one = make_item(
        source="exams", group="a", question="Which is true?", options=("The war ended in 1918", "Rome fell")
    )
    two = make_item(source="exams", group="b", question="Which is true?", options=("Tigers live in Asia", "Owls hunt"))
    assert len(set(components([one, two]).values())) == 2


def test_translations_of_an_exam_paper_stay_together(make_item: MakeItem) -> None:
    mk = make_item(
        source="exams", group="a", language="mk", topic="History", question="По која битка Филип станал хегемон?"
    )
    sq = make_item(
        source="exams", group="b", language="sq", topic="History", question="Në cilën betejë Filipi u bë hegjemon?"
    )
    bg = make_item(source="exams", group="c", language="bg", topic="History", question="Коя битка печели Филип?")
    found = components([mk, sq, bg])
    assert found["a"] == found["b"] != found["c"]


def test_a_split_by_question_alone_lets_kin_and_near_duplicates_part(make_item: MakeItem) -> None:
    asked = "Please tell me if you have a very favourable, somewhat favourable or very unfavourable opinion of"
    china = make_item(group="a", question=f"{asked} China")
    russia = make_item(group="b", question=f"{asked} Russia")
    mk = make_item(source="exams", group="c", language="mk", topic="History", question="По која битка?")
    sq = make_item(source="exams", group="d", language="sq", topic="History", question="Në cilën betejë?")
    again = make_item(group="e", question=china.question.upper())
    items = [china, russia, mk, sq, again]
    assert len(set(components(items).values())) == 2
    found = components(items, similar=1)
    assert found["a"] == found["e"]
    assert len({found[group] for group in "abcd"}) == 4


def joined(texts: Iterable[str], pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    groups = Groups()
    for pair in pairs:
        groups.join(*pair)
    return {text: groups.name(text) for text in texts}


@given(st.lists(SENTENCES, min_size=2, max_size=24, unique=True), st.sampled_from([0.6, 0.8, 1.0]))
@settings(deadline=None, max_examples=50)
def test_what_is_found_joins_what_comparing_every_pair_joins_and_nothing_twice(
    texts: list[str], similar: float
) -> None:
    found = list(near_duplicates(texts, similar))
    every = [pair for pair in combinations(texts, 2) if jaccard(*map(shingles, pair)) >= similar]
    assert {frozenset(pair) for pair in found} <= {frozenset(pair) for pair in every}
    assert joined(texts, found) == joined(texts, every)
    assert len(found) == len(texts) - len(set(joined(texts, every).values()))


def test_thousands_of_texts_nearly_equal_are_each_compared_once(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = Mock(side_effect=jaccard)
    monkeypatch.setattr(duplicates, "jaccard", compared)
    asked = "please tell me whether you have a favourable or an unfavourable opinion of number "
    texts = [f"{asked}{number}" for number in range(1000)]
    assert len(set(joined(texts, near_duplicates(texts)).values())) == 1
    assert compared.call_count < 2 * len(texts)


def test_texts_only_half_alike_are_found_too_where_they_count() -> None:
    asked = "what do most people of this country think when somebody says "
    texts = [asked + "".join(stream(turn).choices("abcdefghij", k=28)) for turn in range(20)]
    alike = [pair for pair in combinations(texts, 2) if 0.5 <= jaccard(*map(shingles, pair)) < 0.6]
    assert len(alike) == 190
    assert all(list(near_duplicates(pair, similar=0.5)) for pair in alike)


def test_components_do_not_depend_on_the_order_of_items(make_item: MakeItem) -> None:
    items = [
        make_item(group=f"g{number}", question=f"Which song number {number // 3} do they sing at dawn?")
        for number in range(12)
    ]
    assert components(items) == components(items[::-1])


def test_hostile_text_has_shingles_too() -> None:
    assert jaccard(shingles(""), shingles("")) == 1.0
    assert jaccard(shingles("ab"), shingles("cd")) == 0.0
    assert SIMILAR < 1
