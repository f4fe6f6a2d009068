"""NormAd: a yes or a no, the rule that decides, and groups that keep a story and a rule in one split."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write


def story(
    number: int, label: str, text: str = "Lee took off his shoes at the door. Is that acceptable?", **more: Any
) -> dict[str, Any]:
    rule = more.pop("rule", f"Rule number {number}.")
    return {"ID": number, "Country": "south_korea", "Story": text, "Rule-of-Thumb": rule, "Gold Label": label, **more}


def test_the_answer_is_flipped_and_the_rule_explains_it(write: Write, load: Load) -> None:
    write("normad/stories.jsonl.gz", [story(1, "yes"), story(2, "No", text="Lee kept them on. Is that acceptable?")])
    items = load("normad").items
    assert (items["normad:1"].gold, items["normad:1"].wrong) == ("Yes", ("No",))
    assert (items["normad:2"].gold, items["normad:2"].wrong) == ("No", ("Yes",))
    assert items["normad:1"].explanation == "Rule number 1."
    assert (items["normad:1"].country, items["normad:1"].role) == ("KR", "a typical person from South Korea")


def test_neutral_stories_are_left_out_and_other_labels_are_wrong(write: Write, load: Load) -> None:
    write("normad/stories.jsonl.gz", [story(1, "neutral"), story(2, "perhaps"), story(3, "yes", Country="narnia")])
    loaded = load("normad")
    assert loaded.items == {}
    assert loaded.reasons[0] == "left out: the rule says nothing about a neutral story"
    assert loaded.reasons[1].startswith("Gold Label: ")
    assert loaded.reasons[2] == "Country: 'narnia' is not a country"


def test_a_second_story_under_one_number_is_named_and_a_repetition_is_not(write: Write, load: Load) -> None:
    write("normad/stories.jsonl.gz", [story(1, "yes"), story(1, "yes"), story(1, "no", text="Lee ran. Acceptable?")])
    loaded = load("normad")
    assert loaded.only.gold == "Yes"
    assert loaded.reasons == ["ID: stands twice, with another story"]


def test_stories_that_share_a_text_or_a_rule_share_a_group(write: Write, load: Load) -> None:
    records = [
        story(1, "yes", text="A?", rule="Greet everyone."),
        story(2, "no", text="B?", rule="Greet everyone"),
        story(3, "no", text="B?", rule="Bow.", Country="japan"),
        story(4, "no", text="C?", rule="Tip."),
    ]
    write("normad/stories.jsonl.gz", records)
    items = load("normad").items
    assert len({items[f"normad:{number}"].group for number in (1, 2, 3)}) == 1
    assert items["normad:4"].group != items["normad:1"].group


def test_background_is_shown_only_when_it_cannot_tell_the_label(write: Write, load: Load) -> None:
    full = story(1, "yes", Background="### Visiting\n- Shoes off.", Subaxis="basic_etiquette")
    write("normad/stories.jsonl.gz", [story(1, "yes"), story(2, "no", text="B?")])
    write("normad/full_fields.jsonl.gz", [full])
    loaded = load("normad")
    assert loaded.items["normad:1"].context is None
    assert loaded.items["normad:1"].topic == "basic etiquette"
    write("normad/full_fields.jsonl.gz", [full, story(2, "no", text="B?", Background="### Visiting\n- Knock.")])
    assert load("normad").items["normad:2"].context == "### Visiting\n- Knock."


def test_the_published_table_is_read(write: Write, load: Load) -> None:
    more = {"Background": "b", "Axis": "Etiquette", "Subaxis": "visiting", "Value": "v", "Explanation": "e"}
    write("normad/normad_etiquette_final_data.csv", [story(1, "yes", **more), story(2, "no", text="B?", **more)])
    loaded = load("normad")
    assert loaded.bad == []
    assert {item.context for item in loaded.items.values()} == {"b"}
