"""MultiNativQA: language and country come from where the file lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write


def asked(name: str = "q1", reliable: str | None = "very_reliable", **more: Any) -> dict[str, Any]:
    return {
        "data_id": name,
        "category": "food",
        "input_query": "çay",
        "question": "Çay nasıl demlenir?",
        "is_reliable": reliable,
        "answer": "Çift katlı demlikte demlenir.",
        "source_answer_url": "x",
        **more,
    }


def test_the_published_file_name_says_language_and_country(write: Write, load: Load) -> None:
    write("nativqa/turkish_tr/NativQA_tr_NA_tr_train.json", [asked()])
    item = load("nativqa").only
    assert (item.language, item.country, item.topic, item.task) == ("tr", "TR", "food", "freeform_qa")
    assert item.gold == "Çift katlı demlikte demlenir."


def test_the_folder_says_it_where_the_file_does_not(write: Write, load: Load) -> None:
    write("nativqa/english_qa/train/0000.parquet", [asked()])
    assert (load("nativqa").only.language, load("nativqa").only.country) == ("en", "QA")


def test_a_file_that_belongs_nowhere_is_named_once(write: Write, load: Load) -> None:
    write("nativqa/data/train.json", [asked(), asked("q2")])
    assert load("nativqa").reasons == ["file: neither its name nor its folder says language and country (arabic_qa)"]


def test_answers_from_sources_nobody_trusts_are_left_out(write: Write, load: Load) -> None:
    doubtful = [
        asked("q1", "completely_unreliable"),
        asked("q2", "not_sure"),
        asked("q3", None, answer="Kaynar suyla."),
    ]
    write("nativqa/turkish_tr/NativQA_tr_NA_tr_dev.json", doubtful)
    loaded = load("nativqa")
    assert list(loaded.items) == ["nativqa:tr_TR:q3"]
    assert loaded.reasons == ["left out: its annotators did not trust the source of the answer"] * 2


def test_an_empty_answer_is_named(write: Write, load: Load) -> None:
    write("nativqa/turkish_tr/NativQA_tr_NA_tr_dev.json", [asked(answer="")])
    assert load("nativqa").reasons == ["answer: String should have at least 1 character"]
