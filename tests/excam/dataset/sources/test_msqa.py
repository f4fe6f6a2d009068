"""MSQA: a question in its own language with the one answer that is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write


def row(**more: Any) -> dict[str, Any]:
    return {
        "id": "PT-900",
        "session_id": "s",
        "language": "pt-PT",
        "culture_circle": "Portuguese",
        "category": "Social Norms and Customs",
        "question": "Que flor simboliza abril?",
        "answer": "O cravo",
        "question_zh": "",
        "answer_zh": "",
        "source_url": "",
        "source_url_desc": "",
        **more,
    }


def test_the_release_is_read(write: Write, load: Load) -> None:
    write(
        "msqa/msqa.jsonl", [row(), row(id="ES-900", language="es-ES", culture_circle="Latin American", question="¿?")]
    )
    first, second = load("msqa").items.values()
    assert (first.language, first.country, first.gold, first.task) == ("pt", "PT", "O cravo", "freeform_qa")
    assert (second.language, second.country) == ("es", None)


def test_the_names_of_the_papers_schema_are_understood(write: Write, load: Load) -> None:
    paper = {"prompt_id": "x", "prompt": "Que flor?", "answer": "O cravo", "language": "pt", "culture_circle": None}
    write("msqa/msqa.jsonl", [paper])
    assert load("msqa").only.question == "Que flor?"


def test_a_row_without_an_answer_is_named(write: Write, load: Load) -> None:
    write("msqa/msqa.csv", [row(answer="")])
    assert load("msqa").reasons == ["answer: String should have at least 1 character"]
