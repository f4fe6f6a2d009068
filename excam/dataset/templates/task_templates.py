"""What one task type offers: its wordings and how an item fills them; a new task type is one file with one of these."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from excam.dataset.item import Item, Task
from excam.dataset.templates.wording import fields_of


@dataclass(frozen=True)
class Wording:
    """One way to ask and one way to answer, drawn together; ``layout`` says how options or a role are set out."""

    instruction: str
    output: str
    layout: str


@dataclass(frozen=True)
class Written:
    """An output as it was written, with the place of the answer in it: that place is the span of a hard error."""

    text: str
    start: int
    answer: str


def just_the_question(item: Item, options: tuple[str, ...], layout: str) -> Mapping[str, str]:
    """The fields of an instruction that shows nothing but the question."""
    return {"question": item.question.strip()}


def just_the_answer(answer: str, options: tuple[str, ...], layout: str) -> Mapping[str, str]:
    """The fields of an output that says nothing but the answer, which needs none."""
    return {}


@dataclass(frozen=True)
class TaskTemplates:
    """The paraphrases of one task type.

    ``ask`` turns an item and the options it shows into the fields of an instruction under a layout; ``answer`` turns
    one answer into the fields of an output. ``plain`` is the wording of real traffic, which has no wrapper: the
    question as it is and the answer as it is.
    """

    task: Task
    instructions: tuple[str, ...]
    outputs: tuple[str, ...]
    plain: Wording
    layouts: tuple[str, ...] = ("",)
    ask: Callable[[Item, tuple[str, ...], str], Mapping[str, str]] = just_the_question
    answer: Callable[[str, tuple[str, ...], str], Mapping[str, str]] = just_the_answer

    def instruct(self, item: Item, options: tuple[str, ...], wording: Wording) -> str:
        """The instruction of ``item`` in this wording."""
        return wording.instruction.format_map(self.ask(item, options, wording.layout)).strip()

    def write(self, answer: str, options: tuple[str, ...], wording: Wording) -> Written:
        """``answer`` in this wording, verbatim, and where it begins."""
        fields = self.answer(answer, options, wording.layout)
        head, _, tail = wording.output.partition("{answer}")
        before, after = head.format_map(fields), tail.format_map(fields)
        return Written(before + answer + after, len(before), answer)

    def __post_init__(self) -> None:
        for pattern in (*self.outputs, self.plain.output):
            if pattern.count("{answer}") != 1:
                raise ValueError(f"{self.task}: an output must hold the answer exactly once: {pattern!r}")
        for pattern in (*self.instructions, self.plain.instruction):
            if "question" not in fields_of(pattern):
                raise ValueError(f"{self.task}: an instruction must hold the question: {pattern!r}")
