"""Mango: a topic to write about and the statement people verified."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write


def assertion(name: str, concept: str, culture: str, **more: Any) -> dict[str, Any]:
    text = f"A statement on {concept}, number {name}."
    return {"id": name, "concept": concept, "culture": culture, "assertion": text, "freq": 3, "cluster": [], **more}


def test_the_topic_reads_as_the_paper_shows_it(write: Write, load: Load) -> None:
    records = [assertion("1", "color symbolism", "Ghanaian"), assertion("2", "Color symbolism", "Ghanaian culture")]
    write("mango/mango_dataset_v1.jsonl.zip", records)
    first, second = load("mango").items.values()
    assert first.question == "color symbolism in Ghanaian culture"
    assert second.question == "Color symbolism in Ghanaian culture"
    assert (first.gold, first.country, first.task) == (
        "A statement on color symbolism, number 1.",
        "GH",
        "text_generation",
    )
    assert first.group == second.group


def test_a_culture_that_is_no_country_has_none(write: Write, load: Load) -> None:
    write("mango/mango_dataset_v1.jsonl", [assertion("1", "greetings", "Western countries")])
    assert (load("mango").only.country, load("mango").only.question) == (None, "greetings in Western countries")


def test_an_assertion_without_text_is_named(write: Write, load: Load) -> None:
    write("mango/mango_dataset_v1.jsonl", [assertion("1", "greetings", "Thai", assertion="")])
    loaded = load("mango")
    assert loaded.bad[0].place == "mango/mango_dataset_v1.jsonl:1"
    assert loaded.reasons == ["assertion: String should have at least 1 character"]
