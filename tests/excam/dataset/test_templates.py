from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from excam.dataset import templates
from excam.dataset.item import Item, Task
from excam.dataset.templates import TaskTemplates, Wording, all_templates
from excam.dataset.templates.qa_options import LAYOUTS
from excam.dataset.templates.wording import compose, fields_of

PAPER_TASKS = (Task.QA_OPTIONS, Task.FREEFORM_QA, Task.TEXT_GENERATION, Task.IMPERSONATION)
MakeItem = Callable[..., Item]


@pytest.mark.parametrize("task", PAPER_TASKS)
def test_every_task_of_the_paper_has_fifty_instructions_and_fifty_outputs(task: Task) -> None:
    found = all_templates()[task]
    assert len(set(found.instructions)) >= 50
    assert len(set(found.outputs)) >= 50


@pytest.mark.parametrize("task", PAPER_TASKS)
def test_no_wording_holds_a_slot_it_cannot_fill(task: Task, make_item: MakeItem) -> None:
    found = all_templates()[task]
    item = make_item(task=task, context="A visit.", role="a typical person from Peru")
    for layout in found.layouts:
        for instruction in found.instructions:
            text = found.instruct(item, item.options, Wording(instruction, found.plain.output, layout))
            assert item.question in text
            assert not re.search(r"[<{][a-z_]+[>}]|  |\n\n\n", text), text
        for output in found.outputs:
            written = found.write("natto", item.options, Wording(found.plain.instruction, output, layout))
            assert written.text[written.start :].startswith("natto")
            assert not re.search(r"[<{][a-z_]+[>}]|  ", written.text), written.text


def test_the_papers_question_with_options_comes_out(make_item: MakeItem) -> None:
    found = all_templates()[Task.QA_OPTIONS]
    instruction = "Choose the correct answer for the prompt: '{question}'. Pick from the options provided:\n{options}"
    output = "Select option {label}, which is {answer}"
    assert instruction in found.instructions
    assert output in found.outputs
    wording = Wording(instruction, output, "named letters")
    item = make_item()
    assert found.instruct(item, item.options, wording) == (
        "Choose the correct answer for the prompt: 'What do people in Peru eat for breakfast?'. Pick from the options "
        "provided:\nOption A: bread with avocado\nOption B: natto\nOption C: ful medames\nOption D: croissant"
    )
    assert found.write("ful medames", item.options, wording).text == "Select option C, which is ful medames"
    assert {"The key is option {label}: {answer}", "The solution is option {label}: {answer}"} <= set(found.outputs)


def test_the_papers_role_comes_out_with_country_context_and_task(make_item: MakeItem) -> None:
    found = all_templates()[Task.IMPERSONATION]
    item = make_item(
        task=Task.IMPERSONATION, question="Was it polite?", context="A dinner.", role="a typical person from Peru"
    )
    instruction = "Please configure to this role/setting:\n{setting}\n{context}\nTask content: '{question}'."
    assert instruction in found.instructions
    assert found.instruct(item, (), Wording(instruction, "{answer}", "Nation")) == (
        "Please configure to this role/setting:\nNation: Peru\nContext: 'A dinner.'\nTask content: 'Was it polite?'."
    )
    assert {"The answer to use: {answer}", "The answer returned: {answer}", "Answer (final): {answer}"} <= set(
        found.outputs
    )


def test_the_papers_profile_of_a_person_stands_as_it_is(make_item: MakeItem) -> None:
    found = all_templates()[Task.IMPERSONATION]
    profile = "Age=26; Sex=Male; Ethn.=Asian; Nat.=India; Lang.=English."
    item = make_item(task=Task.IMPERSONATION, role=profile, context="A post.", country="IN")
    instruction = "Adopt this working role/setting:\n{setting}\n{context}\nTask content: '{question}'."
    text = found.instruct(item, (), Wording(instruction, "{answer}", "Nation"))
    assert text.startswith(f"Adopt this working role/setting:\n{profile}\nContext: 'A post.'\nTask content: '")


def test_the_papers_freeform_and_text_wordings_are_among_ours() -> None:
    freeform, text = all_templates()[Task.FREEFORM_QA], all_templates()[Task.TEXT_GENERATION]
    assert "Give your response to: '{question}'." in freeform.instructions
    assert "Respond to this question with your answer: '{question}'." in freeform.instructions
    assert {"The appropriate answer: {answer}", "This is correct:\n{answer}"} <= set(freeform.outputs)
    assert "Write an article-style text on: '{question}'." in text.instructions
    assert "{answer}" in text.outputs


def test_labels_follow_the_layout(make_item: MakeItem) -> None:
    found, item = all_templates()[Task.QA_OPTIONS], make_item()
    for layout, label in zip(LAYOUTS, ("B", "B", "B", "b", "2"), strict=True):
        wording = Wording("{question}\n{options}", "option {label}: {answer}", layout)
        assert found.write("natto", item.options, wording).text == f"option {label}: natto"
        assert f"{label}" in found.instruct(item, item.options, wording).splitlines()[2]


def test_braces_in_a_question_are_text(make_item: MakeItem) -> None:
    found = all_templates()[Task.FREEFORM_QA]
    item = make_item(question="What does {gold} mean in {0}?")
    assert found.instruct(item, (), found.plain) == "What does {gold} mean in {0}?"
    assert found.write("{question}", (), found.plain).text == "{question}"


@pytest.fixture
def one_more_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    (tmp_path / "riddle.py").write_text(
        "from excam.dataset.item import Task\n"
        "from excam.dataset.templates.task_templates import TaskTemplates, Wording\n"
        "TEMPLATES = TaskTemplates(task='riddle', instructions=('Guess: {question}',), outputs=('It is {answer}',),\n"
        "                          plain=Wording('{question}', '{answer}', ''))\n"
    )
    monkeypatch.setattr(templates, "__path__", [*templates.__path__, str(tmp_path)])
    all_templates.cache_clear()
    yield
    all_templates.cache_clear()


@pytest.mark.usefixtures("one_more_file")
def test_a_new_task_type_is_one_file() -> None:
    found: dict[Any, TaskTemplates] = dict(all_templates())
    assert found["riddle"].instructions == ("Guess: {question}",)
    assert Task.QA_OPTIONS in found


def test_a_template_that_would_lose_the_answer_is_refused() -> None:
    with pytest.raises(ValueError, match="answer exactly once"):
        TaskTemplates(Task.ASSISTANT, ("{question}",), ("no slot",), Wording("{question}", "{answer}", ""))
    with pytest.raises(ValueError, match="hold the question"):
        TaskTemplates(Task.ASSISTANT, ("nothing",), ("{answer}",), Wording("{question}", "{answer}", ""))


def test_composition_gives_every_combination_once() -> None:
    assert compose("<a> <b>", a=("x", "y"), b=("1", "2", "1")) == ("x 1", "x 2", "y 1", "y 2")
    assert fields_of("{question} and {options}") == {"question", "options"}
