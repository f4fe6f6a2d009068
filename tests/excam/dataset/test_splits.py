from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset.item import Item, Task
from excam.dataset.splits import SHARES, Split, sample_strata, split_components, stratum


def _item(number: int, group: str, source: str = "blend", country: str = "PE", language: str = "en") -> Item:
    return Item(
        item_id=f"{source}:{number}", group=group, source=source, task=Task.FREEFORM_QA, question=f"Question {number}?",
        gold="yes", country=country, language=language,
    )  # fmt: skip


@given(st.lists(st.integers(0, 60), min_size=100, max_size=300), st.integers(0, 5))
@settings(deadline=None, max_examples=25)
def test_a_component_is_never_cut_and_the_shares_are_kept(groups: list[int], seed: int) -> None:
    items = [_item(number, f"g{group}") for number, group in enumerate(groups)]
    component_of = {item.group: f"c{int(item.group[1:]) // 2}" for item in items}
    split_of = split_components(items, component_of, seed)
    assert set(split_of) == set(component_of.values())
    sizes = Counter(split_of[component_of[item.group]] for item in items)
    largest = max(Counter(component_of[item.group] for item in items).values())
    for split, share in SHARES.items():
        assert abs(sizes[split] - share * len(items)) <= largest + 1


def test_every_country_is_in_every_split() -> None:
    items = [_item(number, f"g{number}", country=("PE", "JP", "KE", "SE")[number % 4]) for number in range(400)]
    split_of = split_components(items, {item.group: item.group for item in items}, 1)
    for country in ("PE", "JP", "KE", "SE"):
        sizes = Counter(split_of[item.group] for item in items if item.country == country)
        assert all(abs(sizes[split] - share * 100) <= 3 for split, share in SHARES.items())


def test_evaluation_only_sources_and_their_duplicates_go_to_test() -> None:
    items = [_item(number, f"m{number}", source="msqa") for number in range(20)]
    items += [_item(number, f"b{number}") for number in range(100)]
    component_of = {item.group: item.group for item in items} | {"b7": "m3"}
    split_of = split_components(items, component_of, 1, evaluation_only={"msqa"})
    assert {split_of[component_of[item.group]] for item in items if item.source == "msqa"} == {Split.TEST}
    assert split_of[component_of["b7"]] is Split.TEST
    assert Counter(split_of.values())[Split.TRAIN] > 60


def test_a_bounded_draw_is_even_over_strata() -> None:
    items = [_item(number, f"g{number}", country="US" if number % 10 else "PE") for number in range(1000)]
    counts = Counter(item.country for item in sample_strata(items, 150, 1))
    assert counts == {"US": 75, "PE": 75}
    assert len(sample_strata(items, 5000, 1)) == 1000


def test_calmqa_is_stratified_by_language_and_others_by_country() -> None:
    assert stratum(_item(1, "g", source="calmqa", language="ko")) == "ko"
    assert stratum(_item(1, "g", source="normad", country="EG")) == "EG"
