"""EPIC: each annotator is a role, and the wrong answer is the other label."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write


def marked(label: str = "ironic", annotator: str = "A1", **more: Any) -> dict[str, Any]:
    return {
        "id": "x",
        "post": "It rained all week.",
        "reply": "Lovely &amp; dry summer we have.",
        "label": label,
        "annotator": annotator,
        "age": 26.0,
        "gender": "Male",
        "ethnicity": "Asian",
        "nationality": "India",
        **more,
    }


def test_the_profile_is_written_as_the_paper_shows_it(write: Write, load: Load) -> None:
    write("epic/annotations.jsonl.gz", [marked()])
    item = load("epic").only
    assert item.role == "Age=26; Sex=Male; Ethn.=Asian; Nat.=India; Lang.=English."
    assert item.question == "Indicate whether this text is ironic or non-ironic: Lovely & dry summer we have."
    assert (item.context, item.country) == ("It rained all week.", "IN")
    assert (item.gold, item.wrong) == ("The text is ironic.", ("The text is non-ironic.",))


def test_what_the_platform_no_longer_knows_is_left_out_of_the_profile(write: Write, load: Load) -> None:
    write("epic/annotations.jsonl.gz", [marked("not ironic", age=float("nan"), ethnicity="DATA_EXPIRED")])
    item = load("epic").only
    assert item.role == "Sex=Male; Nat.=India; Lang.=English."
    assert (item.gold, item.wrong) == ("The text is non-ironic.", ("The text is ironic.",))


def test_all_annotations_of_a_conversation_share_a_group(write: Write, load: Load) -> None:
    records = [marked(), marked("not ironic", "A2", age=40.0), marked(annotator="A3", reply="Sunny!", age=50.0)]
    write("epic/annotations.jsonl.gz", [*records, marked(annotator="A4", post="Other", reply="Text")])
    items = load("epic").items
    assert len(items) == 4
    assert sorted([item.group for item in items.values()].count(item.group) for item in items.values()) == [1, 3, 3, 3]


def test_people_who_look_alike_but_disagree_are_dropped(write: Write, load: Load) -> None:
    write("epic/annotations.jsonl.gz", [marked(), marked("not ironic", "A2")])
    loaded = load("epic")
    assert loaded.items == {}
    assert loaded.reasons == ["answer: contradicts a record that asks the same"] * 2


def test_unknown_labels_and_empty_texts_are_named(write: Write, load: Load) -> None:
    write("epic/annotations.jsonl.gz", [marked("sarcastic"), marked(reply="")])
    assert load("epic").reasons == [
        "reply: String should have at least 1 character",
        "label: 'sarcastic' is neither ironic nor not",
    ]


def test_the_published_tables_are_read(write: Write, load: Load) -> None:
    people = {"Age": "26", "Sex": "Male", "Ethnicity simplified": "Asian", "Nationality": "India"}
    write(
        "epic/EPIC.csv", [{"user": "U1", "label": "iro", "id_original": "1", "text": "R", "parent_text": "P", **people}]
    )
    pico = {"post_id": 1, "post": "P2", "reply_id": 2, "reply": "R2", "annotator_id": "U2", "label": 0, **people}
    write("epic/multipico_anonimized.csv", [{**pico, "language": "en"}, {**pico, "reply": "R3", "language": "de"}])
    loaded = load("epic")
    assert loaded.reasons == ["left out: not in English"]
    assert [item.gold for item in loaded.items.values()] == ["The text is ironic.", "The text is non-ironic."]
    assert {item.role for item in loaded.items.values()} == {
        "Age=26; Sex=Male; Ethn.=Asian; Nat.=India; Lang.=English."
    }
