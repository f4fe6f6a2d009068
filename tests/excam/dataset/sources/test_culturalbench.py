"""CulturalBench: only what its true/false file calls false is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.excam.dataset.sources.conftest import Load, Write

ASK = "Is this answer true or false for this question? Answer True or False only. Question: "
QUESTION = "Which bread is common at breakfast in Turkey?"


def judged(option: str, output: str, number: str = "7", country: str = "Turkey") -> dict[str, Any]:
    sentence = f"{ASK}{QUESTION} Answer: {option}"
    return {"id": option, "question_id": number, "input": sentence, "output": output, "country": country}


def chosen(answer: str, **choices: str | None) -> dict[str, Any]:
    return {"id": 7, "question": QUESTION, "choices": choices, "answer": answer, "country": "Turkey"}


FOUR = [judged("Simit", "True"), judged("Naan.", "False"), judged("Poğaça", "True"), judged("Injera.", "False")]


def test_a_second_true_option_is_neither_shown_nor_wrong(write: Write, load: Load) -> None:
    write("culturalbench/true_false.jsonl.gz", FOUR)
    write("culturalbench/mcq.jsonl.gz", [chosen("C", A="Simit", B="Naan.", C="Poğaça", D="Injera.")])
    item = load("culturalbench").only
    assert (item.gold, item.wrong, item.country) == ("Poğaça", ("Naan", "Injera"), "TR")
    assert set(item.options) == {"Poğaça", "Naan", "Injera"}
    assert item.question == QUESTION


def test_the_order_of_lines_changes_nothing(write: Write, load: Load) -> None:
    write("culturalbench/true_false.jsonl.gz", FOUR)
    before = load("culturalbench").only
    write("culturalbench/true_false.jsonl.gz", FOUR[::-1])
    assert load("culturalbench").only == before


def test_full_stops_are_taken_off_all_options(write: Write, load: Load) -> None:
    write("culturalbench/true_false.jsonl.gz", FOUR)
    assert not any(option.endswith(".") for option in load("culturalbench").only.options)


def test_options_about_other_options_are_not_used(write: Write, load: Load) -> None:
    options = [judged("All of the above", "False"), judged("None", "False"), judged("None of these options", "False")]
    write("culturalbench/true_false.jsonl.gz", [*FOUR[:2], *options])
    assert load("culturalbench").only.wrong == ("Naan",)


def test_a_question_without_a_false_option_is_named(write: Write, load: Load) -> None:
    write("culturalbench/true_false.jsonl.gz", [judged("Simit", "True")])
    loaded = load("culturalbench")
    assert loaded.reasons == ["left out: no true and false option that stand by themselves"]
    assert loaded.bad[0].place == "culturalbench/true_false.jsonl.gz:1"


def test_choices_that_nobody_judged_are_bad_records(write: Write, load: Load) -> None:
    write("culturalbench/mcq.jsonl.gz", [chosen("A", A="Simit", B=None)])
    assert load("culturalbench").reasons == ["id: no true/false record says which of its options are wrong"]


def test_a_country_and_a_verdict_must_be_ones(write: Write, load: Load) -> None:
    unknown = [judged("Simit", "True", country="Narnia"), judged("Naan", "False", country="Narnia")]
    write("culturalbench/true_false.jsonl.gz", [*unknown, judged("Naan", "perhaps", number="8")])
    first, second = load("culturalbench").reasons
    assert first.startswith("output: ")
    assert second == "country: 'Narnia' is not a country"


def test_the_published_tables_are_read(write: Write, load: Load) -> None:
    base = {"question_idx": 7, "prompt_question": QUESTION, "country": "Turkey"}
    options = (("Simit", True), ("Naan", False), ("Pita", False), ("Injera", False))
    hard = [{**base, "data_idx": n, "prompt_option": text, "answer": true} for n, (text, true) in enumerate(options)]
    letters = {f"prompt_option_{letter}": text for letter, (text, _) in zip("abcd", options, strict=True)}
    write("culturalbench/CulturalBench-Hard.csv", hard)
    write("culturalbench/CulturalBench-Easy.csv", [{**base, "data_idx": 0, **letters, "answer": "A"}])
    loaded = load("culturalbench")
    assert loaded.bad == []
    assert (loaded.only.gold, loaded.only.wrong) == ("Simit", ("Naan", "Pita", "Injera"))
