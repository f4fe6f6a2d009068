"""BLEnD's multiple choice is rebuilt: right is what most people of a region say, wrong what only others say."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write


def asked(region: str, votes: list[tuple[list[str], int]], qid: str = "Q-1", **more: Any) -> dict[str, Any]:
    annotations = [{"answers": [f"{name}~" for name in names], "en_answers": names, "count": n} for names, n in votes]
    return {
        "region": region,
        "qid": qid,
        "topic": "Food",
        "question": f"local question in {region}?",
        "en_question": f"What do people drink in {region}?",
        "annotations": annotations,
        "idks": {"idk": 0, "no-answer": 0, "not-applicable": 0},
        **more,
    }


GREECE = asked("Greece", [(["ouzo"], 4), (["coffee"], 1)])
CHINA = asked("China", [(["green tea"], 5)])
IRAN = asked("Iran", [(["doogh", "dough"], 3), (["black tea"], 2)])


def test_wrong_options_are_other_regions_answers_nobody_here_gave(write: Write, load: Load) -> None:
    write("blend/annotations.jsonl.gz", [GREECE, CHINA, IRAN])
    items = load("blend").items
    greek = items["blend:Q-1:Greece:en"]
    assert (greek.gold, greek.country, greek.language, greek.topic) == ("ouzo", "GR", "en", "Food")
    assert set(greek.wrong) == {"green tea", "black tea", "doogh"}
    assert greek.group == items["blend:Q-1:China:en"].group
    assert set(greek.options) == {"ouzo", *greek.wrong[:3]}
    assert "doogh" in items["blend:Q-1:China:en"].wrong
    assert not any("tea" in option for option in items["blend:Q-1:China:en"].wrong)


def test_other_answers_to_a_question_already_read_are_named_and_a_repetition_is_not(write: Write, load: Load) -> None:
    write("blend/annotations.jsonl.gz", [GREECE, CHINA, GREECE, asked("Greece", [(["raki"], 5)])])
    loaded = load("blend")
    assert loaded.items["blend:Q-1:Greece:en"].gold == "ouzo"
    assert loaded.reasons == ["qid: stands twice for its region, with other answers"]


def test_an_answer_one_annotator_gave_is_never_wrong_in_any_spelling(write: Write, load: Load) -> None:
    here = asked("Greece", [(["ouzo"], 4), (["Green Teas"], 1)])
    write("blend/annotations.jsonl.gz", [here, CHINA, IRAN])
    assert set(load("blend").items["blend:Q-1:Greece:en"].wrong) == {"doogh"}


def test_an_answer_only_one_person_elsewhere_gave_is_not_used(write: Write, load: Load) -> None:
    write("blend/annotations.jsonl.gz", [GREECE, asked("China", [(["green tea"], 5), (["snake wine"], 1)])])
    assert load("blend").items["blend:Q-1:Greece:en"].wrong == ("green tea",)


LOCAL = {"China": "maotai", "Iran": "doogh", "Algeria": "selecto"}
COMMON = [asked(region, [(["green tea"], 2), ([own], 3)]) for region, own in LOCAL.items()]


def test_a_commonplace_is_wrong_only_where_one_answer_can_be_right(write: Write, load: Load) -> None:
    write("blend/annotations.jsonl.gz", [GREECE, *COMMON])
    assert "green tea" not in load("blend").items["blend:Q-1:Greece:en"].wrong
    most = [{**record, "en_question": "What is the most popular drink?"} for record in (GREECE, *COMMON)]
    write("blend/annotations.jsonl.gz", most)
    assert "green tea" in load("blend").items["blend:Q-1:Greece:en"].wrong


def test_regions_of_one_country_do_not_make_each_other_wrong(write: Write, load: Load) -> None:
    write(
        "blend/annotations.jsonl.gz",
        [asked("Indonesia", [(["kopi tubruk"], 4)]), asked("West_Java", [(["bajigur"], 4)])],
    )
    assert load("blend").items == {}


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (asked("Greece", [(["ouzo"], 2), (["raki"], 2)]), "left out: a tie between the most voted answers"),
        (asked("Greece", [(["ouzo"], 1)]), "left out: no answer was given twice"),
        (
            asked("Greece", [(["ouzo"], 3)], idks={"idk": 2, "not sure": 1}),
            "left out: too many annotators gave no answer",
        ),
        (asked("Greece", [(["don't know"], 3)]), "left out: the most voted answer is no answer"),
        (asked("Atlantis", [(["nectar"], 3)]), "region: 'Atlantis' is none of BLEnD's regions"),
        (asked("Greece", [(["ouzo"], 3)], question=" "), "question: String should have at least 1 character"),
    ],
)
def test_what_names_no_right_answer_is_left_out_with_its_reason(
    write: Write, load: Load, record: dict[str, Any], reason: str
) -> None:
    write("blend/annotations.jsonl.gz", [record, CHINA, IRAN])
    loaded = load("blend")
    assert reason in loaded.reasons
    assert not any("Greece" in name for name in loaded.items)


def test_groups_of_votes_that_share_a_name_are_one_answer(write: Write, load: Load) -> None:
    split = asked("Greece", [(["retsina"], 3), (["ouzo"], 2), (["Ouzo"], 2)])
    write("blend/annotations.jsonl.gz", [split, CHINA])
    assert load("blend").items["blend:Q-1:Greece:en"].gold.casefold() == "ouzo"


def test_numbers_stand_against_numbers_and_times_against_times(write: Write, load: Load) -> None:
    records = [asked("Greece", [(["14:00"], 3)]), asked("China", [(["12:00"], 3)]), asked("Iran", [(["13"], 3)])]
    write("blend/annotations.jsonl.gz", records)
    assert load("blend").items["blend:Q-1:Greece:en"].wrong == ("12:00",)


def test_the_local_language_is_used_where_another_country_speaks_it(write: Write, load: Load) -> None:
    spain, mexico = asked("Spain", [(["horchata"], 3)]), asked("Mexico", [(["tequila"], 4)])
    write("blend/annotations.jsonl.gz", [spain, mexico, CHINA])
    items = load("blend").items
    local = items["blend:Q-1:Spain:es"]
    assert (local.question, local.gold, local.wrong) == ("local question in Spain?", "horchata~", ("tequila~",))
    assert "blend:Q-1:China:zh" not in items


def test_published_files_are_read_as_they_are(write: Write, load: Load) -> None:
    for record in (GREECE, CHINA, IRAN):
        kept = {key: record[key] for key in ("question", "annotations", "idks")}
        kept["en_question"] = "What do people drink in your country?"
        write(f"blend/data/annotations/{record['region']}_data.json", {"Q-1": kept})
    listed = {"ID": "Q-1", "Topic": "Drinks", "Question": "?", "Translation": "?"}
    write("blend/data/questions/Greece_questions.csv", [listed, listed | {"Topic": ""}])
    loaded = load("blend")
    assert loaded.reasons == ["Topic: String should have at least 1 character"]
    greek = loaded.items["blend:Q-1:Greece:en"]
    assert (greek.question, greek.topic) == ("What do people drink in Greece?", "Drinks")


CHOICE = {"qid": "Q-1", "region": "Greece", "question": "What do people drink in Greece?", "answer": "B"}


def test_published_choices_add_wrong_options_but_not_those_somebody_gave(write: Write, load: Load) -> None:
    write("blend/annotations.jsonl.gz", [GREECE, CHINA])
    choices = {"A": "kvass", "B": "ouzo", "C": "iced coffee", "D": "not-applicable"}
    write("blend/mcq.jsonl.gz", [{**CHOICE, "choices": choices}])
    assert set(load("blend").items["blend:Q-1:Greece:en"].wrong) == {"green tea", "kvass"}


def test_published_choices_alone_make_items(write: Write, load: Load) -> None:
    prompt = f"{CHOICE['question']} Without any explanation, choose only one from the given alphabet choices.\n\nA. x"
    choices = json.dumps({"A": "kvass", "B": "ouzo", "C": "sake", "D": "mate"})
    record = {"MCQID": "m1", "ID": "Q-1", "country": "Greece", "prompt": prompt, "choices": choices, "answer_idx": "B"}
    write("blend/mc_questions_file.csv", [record])
    item = load("blend").only
    assert (item.question, item.gold, set(item.wrong)) == (CHOICE["question"], "ouzo", {"kvass", "sake", "mate"})


def test_the_hubs_tables_are_told_apart_by_their_folders(write: Write, load: Load) -> None:
    for record, code in ((GREECE, "GR"), (CHINA, "CN")):
        kept = {"ID": "Q-1", **{key: record[key] for key in ("question", "en_question", "annotations", "idks")}}
        write(f"blend/annotations/{code}/0000.parquet", [kept])
    choices = json.dumps({"A": "kvass", "B": "ouzo"})
    record = {"MCQID": "m", "ID": "Q-1", "country": "Greece", "prompt": "?", "choices": choices, "answer_idx": "B"}
    write("blend/multiple-choice-questions/test/0000.parquet", [record])
    loaded = load("blend")
    assert loaded.bad == []
    assert set(loaded.items["blend:Q-1:Greece:en"].wrong) == {"green tea", "kvass"}


def test_a_choice_whose_answer_is_missing_is_named(write: Write, load: Load) -> None:
    write("blend/mcq.jsonl.gz", [{**CHOICE, "choices": {"A": "kvass", "B": None}}])
    assert load("blend").reasons == ["answer: 'B' is none of the choices"]
