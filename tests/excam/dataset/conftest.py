"""Small sources written by hand in the form of a prepared folder, and items to make samples of."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from excam.dataset.build import Built, build
from excam.dataset.item import Item, Task
from excam.dataset.profile import PROFILES, Profile

REGIONS = ("Indonesia", "Mexico", "Spain", "Greece", "China", "Iran")
THINGS = (
    "breakfast", "street snack", "wedding gift", "school sport", "winter drink", "family game", "festival sweet",
    "lunch dish", "office habit", "summer fruit", "birthday meal", "market day", "evening walk", "tea custom",
    "harvest song", "new year dish", "city bus", "class outing", "river fish", "mountain path", "morning bread",
    "garden flower", "folk dance", "village band", "market soup", "kitchen tool", "spring cleaning", "night market",
    "wool scarf", "clay pot",
)  # fmt: skip

SMALL = replace(PROFILES["full"], chores=1, ordinary=300)
"""Everything the sources give, with few ordinary chores: those take the time."""

MakeItem = Callable[..., Item]


def _write(root: Path, name: str, rows: list[dict[str, Any]]) -> None:
    path = root / f"{name}.jsonl.gz"
    path.parent.mkdir(parents=True, exist_ok=True)
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    path.write_bytes(gzip.compress(text.encode(), mtime=0))


def _blend() -> list[dict[str, Any]]:
    rows = []
    for number, thing in enumerate(THINGS):
        for place, region in enumerate(REGIONS):
            common = (number + place) % 3 == 0
            answer = f"plain {thing.split()[-1]}" if common else f"{thing.split()[0]} of sort {place + number}"
            question = f"What is the most common {thing} in {region}?"
            row = {"region": region, "qid": f"q-{number:02}", "topic": "Food", "question": question, "idks": {}}
            votes = [{"answers": [answer], "en_answers": [answer], "count": 4}]
            rows.append(row | {"en_question": question, "annotations": votes})
    return rows


def _culturalbench() -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    questions, answers = [], []
    for number, thing in enumerate(THINGS):
        question = f"In Greece, how do people usually share {thing} number {number * 7} with their neighbours?"
        choices = {letter: f"{thing} of kind {number * 11 + place}" for place, letter in enumerate("ABCD")}
        right = "ABCD"[number % 4]
        base = {"country": "Greece", "question": question}
        questions.append(base | {"id": number, "choices": choices, "answer": right})
        for letter, text in choices.items():
            asked = f"Is this answer true or false for this question? Question: {question} Answer: {text}"
            row = {"id": f"{number}-{letter}", "question_id": str(number), "country": "Greece"}
            answers.append(row | {"input": asked, "output": str(letter == right)})
    return questions, answers


def _opinions() -> list[dict[str, Any]]:
    shares = [[0.6, 0.2, 0.15, 0.05], [0.1, 0.7, 0.15, 0.05], [0.1, 0.15, 0.7, 0.05]]
    return [
        {
            "country": country,
            "question": f"How much do you care about {thing} in public life, topic {number * 13}?",
            "options": ["A lot", "A little", "Not at all", "DK/Refused"],
            "distribution": shares[(number + place) % 3],
        }
        for number, thing in enumerate(THINGS)
        for place, country in enumerate(("Spain", "Japan", "Kenya"))
    ]


def _stories() -> list[dict[str, Any]]:
    told = (("no", "began at once", "acceptable"), ("yes", "waited for the host", "socially acceptable"))
    rows = []
    for number, thing in enumerate(THINGS):
        label, deed, asked = told[number % 2]
        rows.append(
            {
                "ID": number,
                "Country": ("egypt", "japan", "peru", "greece")[number % 4],
                "Story": f"At a {thing} party, guest {number * 17} {deed} for a while. Is what the guest did {asked}?",
                "Rule-of-Thumb": f"When it comes to {thing}, guests wait for the host before they take part {number}.",
                "Gold Label": label,
            }
        )
    return rows


def _calmqa() -> list[dict[str, Any]]:
    rows = []
    for number, thing in enumerate(THINGS):
        rows.append(
            {
                "name": f"german:{number}",
                "culture": "specific",
                "language": "German",
                "question": f"Warum ist {thing} {number} in Deutschland so beliebt?",
                "question_en": f"Why is {thing} {number} popular in Germany?",
                "human_answer": f"In Deutschland gehört {thing} {number} seit Jahrhunderten zum Alltag vieler Familien "
                "und in Deutschland wird das wohl auch so bleiben.",
            }
        )
        rows.append(
            {
                "name": f"non_cultural:{number}",
                "culture": "agnostic",
                "language": "English",
                "question": f"Why does machine part number {number} of a {thing} become warm when it runs for long?",
                "question_en": f"Why does machine part {number} of a {thing} become warm?",
                "human_answer": f"The parts rub against each other and the work of friction turns into heat, which is "
                f"why part {number} becomes warm after a while.",
            }
        )
    return rows


def _epic() -> list[dict[str, Any]]:
    return [
        {
            "id": f"dev_{number}",
            "post": f"Somebody complained about the {thing} again, case {number * 31}.",
            "reply": f"Sure, the {thing} is what keeps me awake at night, said neighbour {number * 19}.",
            "label": "ironic" if (number + place) % 3 == 0 else "not ironic",
            "annotator": f"Ann{place}",
            "age": 20.0 + place,
            "gender": "Female",
            "nationality": nationality,
        }
        for number, thing in enumerate(THINGS)
        for place, nationality in enumerate(("Ireland", "India", "Australia"))
    ]


def _exams() -> list[dict[str, Any]]:
    rows = []
    for subject in ("History", "Physics"):
        for number, thing in enumerate(THINGS):
            choices = [
                {"label": letter, "text": f"отговор {number * 3 + place}"} for place, letter in enumerate("ABCD")
            ]
            stem = f"Кой от тези отговори за {thing} номер {number * 23} е верен според {subject}?"
            row = {"id": f"{subject}-{number}", "answerKey": "ABCD"[number % 4]}
            info = {"grade": 12, "subject": subject, "language": "Bulgarian"}
            rows.append(row | {"question": {"stem": stem, "choices": choices}, "info": info})
    return rows


@pytest.fixture(scope="session")
def small_sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Seven sources of a few dozen records each; INCLUDE, Mango, NativQA and the evaluation-only ones are missing."""
    root = tmp_path_factory.mktemp("sources")
    questions, answers = _culturalbench()
    _write(root, "blend/annotations", _blend())
    _write(root, "culturalbench/mcq", questions)
    _write(root, "culturalbench/true_false", answers)
    _write(root, "globalopinionqa/pairs", _opinions())
    _write(root, "normad/stories", _stories())
    _write(root, "calmqa/all_questions", _calmqa())
    _write(root, "epic/annotations", _epic())
    _write(root, "exams/questions", _exams())
    return root


@pytest.fixture(scope="session")
def built(small_sources: Path, tmp_path_factory: pytest.TempPathFactory) -> Built:
    """A build of everything the small sources give."""
    return build(small_sources, tmp_path_factory.mktemp("built"), SMALL, seed=3)


@pytest.fixture(scope="session")
def small_profile() -> Profile:
    """The profile of ``built``."""
    return SMALL


@pytest.fixture
def make_item() -> MakeItem:
    """An item about breakfast in Peru, with whatever a test changes."""

    def make(**changes: Any) -> Item:
        usual: dict[str, Any] = {
            "item_id": "blend:q1:Peru:en",
            "group": "blend:q1",
            "source": "blend",
            "task": Task.QA_OPTIONS,
            "question": "What do people in Peru eat for breakfast?",
            "gold": "bread with avocado",
            "options": ("bread with avocado", "natto", "ful medames", "croissant"),
            "wrong": ("natto", "ful medames", "croissant"),
            "country": "PE",
            "language": "en",
        }
        return Item(**usual | changes)

    return make
