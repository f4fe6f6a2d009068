"""EXAMS: history is cultural, physics is not, and translations of one exam stay together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write


def exam(
    name: str, stem: str, options: list[str], key: str = "A", subject: str = "History", language: str = "Croatian"
) -> dict[str, Any]:
    choices = [{"text": text, "label": label} for text, label in zip(options, "ABCDE", strict=False)]
    info = {"grade": 12, "subject": subject, "language": language}
    return {"id": name, "question": {"stem": stem, "choices": choices}, "answerKey": key, "info": info}


RULERS = ["Tomislav.", "Zvonimir.", "Trpimir."]


def test_a_cultural_subject_makes_a_cultural_item_of_the_school_systems_country(write: Write, load: Load) -> None:
    write("exams/questions.jsonl.gz", [exam("a", "Tko je bio prvi kralj?", RULERS)])
    item = load("exams").only
    assert (item.gold, item.wrong, item.country, item.language) == ("Tomislav", ("Zvonimir", "Trpimir"), "HR", "hr")
    assert item.cultural
    assert set(item.options) == {"Tomislav", "Zvonimir", "Trpimir"}


def test_a_second_question_under_one_id_is_named_and_a_repetition_is_not(write: Write, load: Load) -> None:
    first = exam("a", "Tko je bio prvi kralj?", RULERS)
    write("exams/questions.jsonl.gz", [first, first, exam("a", "Tko je bio posljednji kralj?", RULERS)])
    loaded = load("exams")
    assert loaded.only.question == "Tko je bio prvi kralj?"
    assert loaded.reasons == ["id: stands twice, with another question"]


def test_natural_science_is_ordinary_traffic_and_trades_are_left_out(write: Write, load: Load) -> None:
    physics = exam("a", "Što je masa?", ["mjera", "sila", "rad"], subject="Physics")
    write("exams/questions.jsonl.gz", [physics, exam("b", "Što je lizing?", RULERS, subject="Business")])
    loaded = load("exams")
    assert (loaded.only.cultural, loaded.only.country) == (False, None)
    assert loaded.reasons == ["left out: a subject that is neither cultural nor natural science"]


@pytest.mark.parametrize(
    ("language", "options", "country"),
    [
        *(("Italian", 4, "HR"), ("German", 4, "HU"), ("Albanian", 4, "MK"), ("Turkish", 4, "MK"), ("Turkish", 5, "TR")),
        *(("Serbian", 4, None), ("Arabic", 4, None), ("Bulgarian", 4, "BG")),
    ],
)
def test_the_country_is_where_the_exam_is_sat(
    write: Write, load: Load, language: str, options: int, country: str | None
) -> None:
    write("exams/questions.jsonl.gz", [exam("a", "?1?", [f"answer {n}" for n in range(options)], language=language)])
    assert load("exams").only.country == country


def test_what_is_called_geology_is_geography(write: Write, load: Load) -> None:
    write(
        "exams/questions.jsonl.gz",
        [exam("a", "Najveće jezero?", ["Vransko", "Visovac", "Prokljan"], subject="Geology")],
    )
    assert load("exams").only.cultural


def test_hungary_sets_geography_in_the_languages_of_its_neighbours(write: Write, load: Load) -> None:
    write(
        "exams/questions.jsonl.gz", [exam("a", "Najveće jezero?", ["Balaton", "Tisa", "Velence"], subject="Geography")]
    )
    assert load("exams").only.country == "HU"


def paper(language: str, start: int, stems: list[str], key: str) -> list[dict[str, Any]]:
    options = [f"{language} {word}" for word in ("prvo", "drugo", "treće")]
    ids = (f"{start + number:08x}-8d4a-11ea-ae7d-54bef70b159e" for number in range(len(stems)))
    return [exam(name, stem, options, key, language=language) for name, stem in zip(ids, stems, strict=True)]


def test_papers_numbered_side_by_side_are_translations_whatever_their_letters(write: Write, load: Load) -> None:
    lengths = [30, 90, 45, 160, 60, 120]
    croatian = paper("Croatian", 0x4FA46600, ["č" * length for length in lengths], "B")
    italian = paper("Italian", 0x4D448900, ["i" * (length + length // 9) for length in lengths], "A")
    strange = paper("Serbian", 0x4E000000, ["с" * (50 + length) for length in range(len(lengths))], "A")
    write("exams/questions.jsonl.gz", [*croatian, *italian, *strange])
    items = load("exams").items
    groups = {
        name: [items[f"exams:{record['id']}"].group for record in records]
        for name, records in (("hr", croatian), ("it", italian), ("sr", strange))
    }
    assert groups["hr"] == groups["it"]
    assert len(set(groups["hr"] + groups["sr"])) == 12


def test_questions_with_the_same_figures_share_a_group_in_one_school_system(write: Write, load: Load) -> None:
    write(
        "exams/questions.jsonl.gz",
        [
            exam("a", "Što se dogodilo 1918. godine?", ["mir", "rat", "savez"], "B"),
            exam("b", "Che cosa accadde nel 1918?", ["pace", "guerra", "alleanza"], "A", language="Italian"),
            exam("c", "Što se dogodilo 1945. godine?", ["mir", "rat", "savez"], "B"),
            exam("d", "Какво стана през 1918?", ["мир", "война", "съюз"], "B", language="Bulgarian"),
        ],
    )
    items = load("exams").items
    assert items["exams:a"].group == items["exams:b"].group
    assert len({items[f"exams:{name}"].group for name in "acd"}) == 3


@pytest.mark.parametrize("link", [{"a": ["b"]}, {"source_id": "a", "target_id_list": ["b"]}], ids=["repository", "hub"])
def test_the_published_list_of_parallel_questions_decides_where_it_is_given(
    write: Write, load: Load, link: dict[str, Any]
) -> None:
    first, second = exam("a", "U 1918.?", RULERS), exam("b", "Nel 1918?", RULERS, language="Italian")
    write("exams/multilingual/train.jsonl", [first, second, exam("c", "U 1918. (2)?", RULERS)])
    write("exams/parallel_questions.jsonl", [link])
    loaded = load("exams")
    assert loaded.bad == []
    assert loaded.items["exams:a"].group == loaded.items["exams:b"].group != loaded.items["exams:c"].group


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        (exam("a", "?", RULERS, "@"), "answerKey: '@' is not the letter of an option"),
        (exam("a", " ", RULERS), "question.stem: String should have at least 1 character"),
        (exam("a", "?", ["da", "da.", "ne"]), "question.choices: an option is empty or stands twice"),
        (exam("a", "?", ["Pariz", "1", "London"]), "question.choices: an option is a lone sign, torn from its text"),
        (exam("a", "?", RULERS, language="Elvish"), "info.language: 'Elvish' is not a language we know"),
    ],
)
def test_broken_questions_are_named(write: Write, load: Load, record: dict[str, Any], reason: str) -> None:
    write("exams/questions.jsonl.gz", [record])
    loaded = load("exams")
    assert (loaded.items, loaded.reasons) == ({}, [reason])


def test_a_question_printed_twice_counts_once_and_contradictions_do_not_count(write: Write, load: Load) -> None:
    twice = [exam("a", "Prvi kralj?", RULERS), exam("b", "Prvi  kralj?", RULERS)]
    torn = [exam("c", "Drugi?", RULERS, "A"), exam("d", "Drugi?", RULERS, "B")]
    write("exams/questions.jsonl.gz", [*twice, *torn])
    loaded = load("exams")
    assert list(loaded.items) == ["exams:a"]
    assert len(loaded.bad) == 2


def test_the_hubs_table_with_options_in_columns_is_read(write: Write, load: Load) -> None:
    record = exam("a", "Tko?", RULERS)
    record["question"]["choices"] = {"text": RULERS, "label": ["A", "B", "C"], "para": ["", "", ""]}
    write("exams/multilingual/train-00000-of-00001.parquet", [record])
    assert load("exams").only.gold == "Tomislav"
