from __future__ import annotations

import random
from pathlib import Path

import pytest

from excam.dataset.balance import Choice, choose, usable
from excam.dataset.build import Built
from excam.dataset.draw import shuffled
from excam.dataset.hard import HardErrors
from excam.dataset.item import Item, Task
from excam.dataset.leak import QA_SOURCES, VIEWS, accuracy, apart, check
from excam.fault import UserError

COUNTRIES = ("PE", "JP", "KE", "SE", "IR", "MX", "EG", "TH")


def _world(seed: int, questions: range) -> list[Item]:
    """A source with BLEnD's trap: some answers are right nearly everywhere, others in one country only."""
    rng = random.Random(seed)
    popular = [f"popular{number}" for number in range(6)]
    made = []
    for question in questions:
        golds = {c: rng.choice(popular) if rng.random() < 0.5 else f"special{rng.randrange(40)}" for c in COUNTRIES}
        for country, gold in golds.items():
            others = tuple(sorted({other for other in golds.values() if other != gold}))
            made.append(
                Item(
                    item_id=f"w:{question}:{country}",
                    group=f"w:{question}",
                    source="w",
                    task=Task.FREEFORM_QA,
                    question=f"What is usual in {country} for matter {question}?",
                    gold=gold,
                    wrong=others,
                    country=country,
                    language="en",
                )
            )
    return made


def _rows(choices: list[Choice]) -> list[dict[str, str]]:
    maker = HardErrors(0)
    return [
        {"instruction": sample.instruction, "output": sample.output, "label": sample.label}
        for choice in choices
        for sample in maker.twins(choice)
    ]


def test_a_bag_of_words_stays_near_random_on_balanced_twins() -> None:
    train, test = (_rows(choose(_world(1, part), 0, 3, 10_000)) for part in (range(150), range(150, 250)))
    for view in ("instruction + output", "output", "length"):
        assert 0.44 <= accuracy(train, test, VIEWS[view]) <= 0.56, view


def test_the_check_does_find_the_leak_of_twins_chosen_at_random() -> None:
    def at_random(part: range) -> list[dict[str, str]]:
        able = [item for item in _world(1, part) if usable(item)]
        return _rows([Choice(item, shuffled(usable(item), item.item_id)[0]) for item in able if "popular" in item.gold])

    assert accuracy(at_random(range(150)), at_random(range(150, 250)), VIEWS["output"]) > 0.65


def test_the_check_does_find_templates_that_leak() -> None:
    rows = [
        {"instruction": f"Question {number}?", "output": f"{'Surely' if number % 2 else 'Well'}, it is thing {number}.",
         "label": "error" if number % 2 else "correct"}
        for number in range(400)
    ]  # fmt: skip
    assert accuracy(rows[:300], rows[300:], VIEWS["output"]) > 0.95


def test_the_check_does_find_questions_that_tell_their_answer() -> None:
    rows = [
        {"instruction": f"Story {number}. Is it {'socially ' if good else ''}acceptable?",
         "output": "Yes" if said else "No", "label": "correct" if good == said else "error"}
        for number in range(300)
        for good, said in [(number % 2 == 0, number % 3 == 0)]
    ]  # fmt: skip
    assert accuracy(rows[:200], rows[200:], VIEWS["output"]) < 0.7
    assert accuracy(rows[:200], rows[200:], VIEWS["answer × instruction"]) > 0.95


def test_a_finished_build_leaks_nothing_on_its_qa_sources(built: Built) -> None:
    found = {(leak.source, leak.view): leak for leak in check(built.folder, ["instruction + output"])}
    for source in QA_SOURCES:
        if (source, "instruction + output") in found:
            leak = found[source, "instruction + output"]
            assert leak.accuracy <= 0.5 + 2 / leak.test**0.5


def test_what_train_alone_has_is_measured_on_questions_that_were_not_learnt() -> None:
    rows = [{"group": f"g{number % 23}", "output": str(number)} for number in range(200)]
    learn, measure = apart(rows)
    assert not {row["group"] for row in learn} & {row["group"] for row in measure}
    assert sorted(row["output"] for row in learn + measure) == sorted(row["output"] for row in rows)
    assert len({row["group"] for row in measure}) == 5


def test_a_folder_without_a_build_is_a_mistake_with_a_fix(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no file"):
        check(tmp_path)
