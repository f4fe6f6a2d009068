"""CaLMQA: people's answers about their culture, anyone's answers about nothing cultural."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write

LONG = "Am Namenstag feiert man den Heiligen, dessen Namen man trägt, in Bayern oft mehr als den Geburtstag."
ENGLISH = "Water boils at a lower temperature on a mountain because the air presses less on its surface there."
BAVARIAN = {
    "name": "german:1",
    "language": "German",
    "category": "customs",
    "question": "Was ist ein Namenstag?",
    "question_en": "What is a name day?",
}
BOILING = {
    "name": "non_cultural:1",
    "culture": "agnostic",
    "language": "English",
    "category": None,
    "question": "Why does water boil sooner on mountains?",
    "question_en": "Why does water boil sooner on mountains?",
}


def by(*authors: str, text: str = ENGLISH) -> list[dict[str, str]]:
    return [{"by": author, "text": f"{text} ({author})"} for author in authors]


def test_a_persons_answer_makes_an_item_and_a_models_does_not(write: Write, load: Load) -> None:
    answers = [{"by": "gpt 4o", "text": LONG}, {"by": "human", "text": f"\n{LONG}"}]
    other = {**BAVARIAN, "name": "german:2", "question": "Wer?", "question_en": "Who?", "answers": by("gpt 4o")}
    write("calmqa/all_questions.jsonl.gz", [{**BAVARIAN, "culture": "specific", "answers": answers}, other])
    write("calmqa/human_answers.jsonl.gz", [{**BAVARIAN, "human_answer": LONG}])
    loaded = load("calmqa")
    item = loaded.only
    assert (item.gold, item.country, item.language, item.topic, item.cultural) == (LONG, "DE", "de", "customs", True)
    assert loaded.reasons == ["left out: no answer by a person"]


def test_a_reply_too_short_to_explain_anything_is_left_out(write: Write, load: Load) -> None:
    write("calmqa/human_answers.jsonl.gz", [{**BAVARIAN, "human_answer": "Frag Oma."}])
    assert load("calmqa").reasons == ["left out: too short for a long-form answer"]


def test_answers_to_a_question_about_no_culture_are_ordinary_traffic(write: Write, load: Load) -> None:
    write("calmqa/all_questions.jsonl.gz", [{**BOILING, "answers": by("gpt 4o", "claude opus", "human (dot points)")}])
    items = list(load("calmqa").items.values())
    assert len(items) == 2
    assert {item.cultural for item in items} == {False}
    assert len({item.group for item in items}) == 1
    assert {item.country for item in items} == {None}


def test_a_record_whose_answers_are_in_another_language_is_left_out(write: Write, load: Load) -> None:
    foreign = {**BOILING, "answers": [*by("gpt 4o", "claude opus", "aya", text=LONG), *by("llama")]}
    write("calmqa/all_questions.jsonl.gz", [foreign])
    loaded = load("calmqa")
    assert loaded.items == {}
    assert loaded.reasons == ["left out: the answers are not in the language of the question"]


def test_an_unknown_language_is_named(write: Write, load: Load) -> None:
    write("calmqa/human_answers.jsonl.gz", [{**BAVARIAN, "language": "Elvish", "human_answer": LONG}])
    assert load("calmqa").reasons == ["language: 'Elvish' is not a language we know"]


def test_the_published_table_with_numbered_labels_is_read(tmp_path: Path, load: Load) -> None:
    names = {"language": ["English", "German"], "question_type": ["culturally agnostic", "culturally specific"]}
    features = {key: {"names": labels, "_type": "ClassLabel"} for key, labels in names.items()}
    rows: list[dict[str, Any]] = [
        {
            "language": 1,
            "question_type": 1,
            "question": "Was ist ein Namenstag?",
            "question_english": "?",
            "answer": LONG,
        },
        {"language": 0, "question_type": 0, "question": "Why?", "question_english": "Why?", "answer": None},
    ]
    table = pa.Table.from_pylist(rows)
    (tmp_path / "calmqa").mkdir()
    described = {"huggingface": json.dumps({"info": {"features": features}})}
    pq.write_table(table.replace_schema_metadata(described), tmp_path / "calmqa" / "train-00000-of-00001.parquet")
    loaded = load("calmqa")
    assert (loaded.only.language, loaded.only.gold) == ("de", LONG)
    assert loaded.reasons == ["left out: a question without an answer"]


def test_the_authors_repository_is_read_in_the_language_of_the_answers(write: Write, load: Load) -> None:
    texts = {
        "English": {"text": "Why does water boil sooner on mountains?"},
        "German": {"text": "Warum kocht Wasser oben früher?"},
    }
    answer = {"language": "German", "translations": {"German": {"text": LONG}}}
    entry = {
        "question": {"name": "non_cultural:1", "language": "English", "translations": texts},
        "answers": [{**answer, "name": "non_cultural:1:language.german:gpt 4o"}],
    }
    write("calmqa/data/datasets/dataset-agnostic-german.json", {"entries": [entry, {"question": {}, "answers": []}]})
    loaded = load("calmqa")
    assert (loaded.only.question, loaded.only.language) == ("Warum kocht Wasser oben früher?", "de")
    assert not loaded.only.cultural
    assert len(loaded.bad) == 1
