"""Notes: every fact of the questions that are kept, in plain words, and no other."""

from __future__ import annotations

from pathlib import Path

import pytest

from excam.dataset.atlas import choices, everyday, opinions
from excam.dataset.atlas.notes import TOGETHER, Note, atlas_notes
from excam.dataset.item import Item

EVERYDAY = "Food|What is eaten at dawn in {place}?|GB=toast|IR=bread;cheese|JB=rice|KR=rice|GR=rusk|MX=tamales"
CUSTOM = "JP|What is left at the door in Japan?|Shoes|Hats|Gloves"
OPINION = "Is tea better than beer?|yes;no|GB=1|DE=2|US=2"


@pytest.fixture
def facts(tmp_path: Path) -> Path:
    files = {
        "everyday/a.txt": EVERYDAY,
        "customs/a.txt": CUSTOM,
        "opinions/a.txt": OPINION,
        "rewordings/everyday/a.txt": "What is eaten at dawn in {place}?|In {place}, which breakfast is usual?",
        "rewordings/customs/a.txt": f"{CUSTOM.split('|')[1]}|What must a guest in Tokyo take off?|The shoes",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, "utf-8")
    return tmp_path


def groups(facts: Path) -> dict[str, str]:
    """The group of the one question of each part, as the items have it."""
    found: dict[str, list[Item]] = {
        "everyday": list(everyday.read(facts / "everyday")),
        "customs": list(choices.read_customs(facts / "customs")),
        "opinions": list(opinions.read(facts / "opinions")),
    }
    return {part: items[0].group for part, items in found.items()}


def spelled(note: Note) -> str:
    return "".join(asked + answer for asked, answer in note.said)


def test_a_question_of_many_countries_is_put_to_all_of_them_and_in_both_wordings(facts: Path) -> None:
    group = groups(facts)["everyday"]
    notes = list(atlas_notes(facts, {group}))
    assert {note.group for note in notes} == {group}
    assert [len(note.said) for note in notes] == [TOGETHER, 2]
    answers = [answer for note in notes for _, answer in note.said]
    assert sorted(answers) == sorted([" toast.", " bread; cheese.", " rice.", " rice.", " rusk.", " tamales."])
    assert spelled(notes[0]).startswith("What is eaten at dawn in ")
    assert spelled(notes[1]).startswith("In ")
    assert ", which breakfast is usual? " in spelled(notes[1])
    whole = spelled(notes[0]) + spelled(notes[1])
    for place, answer in [("the UK", "toast"), ("Iran", "bread; cheese"), ("West Java", "rice"), ("Mexico", "tamales")]:
        told = [
            f"at dawn in {place}? {answer}.",
            f"In {place}, which breakfast is usual? {answer}.",
            f"In {place}? {answer}.",
        ]
        assert any(text in whole for text in told)


def test_a_custom_is_told_in_each_wording_with_its_own_answer(facts: Path) -> None:
    notes = atlas_notes(facts, {groups(facts)["customs"]})
    assert [spelled(note) for note in notes] == [
        "What is left at the door in Japan? Shoes.",
        "What must a guest in Tokyo take off? The shoes.",
    ]


def test_an_opinion_is_told_with_what_could_have_been_answered(facts: Path) -> None:
    (note,) = atlas_notes(facts, {groups(facts)["opinions"]})
    whole = spelled(note)
    assert whole.startswith("Is tea better than beer? (yes / no) In ")
    assert all(
        text in whole for text in ("In the United Kingdom? yes.", "In Germany? no.", "In the United States? no.")
    )


def test_of_what_is_not_kept_nothing_is_told(facts: Path) -> None:
    assert list(atlas_notes(facts, set())) == []
