"""Questions with answer options to choose from."""

from __future__ import annotations

from collections.abc import Mapping

from excam.dataset.item import Item, Task
from excam.dataset.templates.task_templates import TaskTemplates, Wording
from excam.dataset.templates.wording import compose

ASKS = (
    "Choose the correct answer for the prompt: '{question}'.",
    "Pick the correct answer for this prompt: '{question}'.",
    "Select the right answer for '{question}'.",
    "Which answer fits this question: '{question}'?",
    "Find the right answer to the question '{question}'.",
    "Please answer this multiple-choice question: {question}",
    "Question: {question}",
    "I need the correct answer to this: {question}",
    "Decide which answer is right: {question}",
    "Have a look at this question: '{question}'.",
    "Here is a quiz question: {question}",
    "{question}",
)
PICKS = (
    "Pick from the options provided:",
    "Pick one option from the list below:",
    "Choose from the provided options:",
    "Choose one of these options:",
    "These are the options:",
    "Select exactly one option:",
    "The possible answers are:",
    "Your choices:",
)

# How the options are set out, and the label of the first.
LAYOUTS = {
    "named letters": ("Option {label}: {text}", "A"),
    "letters": ("{label}) {text}", "A"),
    "dotted letters": ("{label}. {text}", "A"),
    "small letters": ("({label}) {text}", "a"),
    "named numbers": ("Option {label}: {text}", "1"),
}

OUTPUTS = (
    *compose(
        "<lead> option {label}: {answer}",
        lead=(
            "The solution is",
            "The key is",
            "The correct choice is",
            "The answer is",
            "The right answer is",
            "I choose",
            "I would pick",
            "My pick is",
            "My answer is",
            "It is",
            "It must be",
            "Select",
            "Pick",
            "The best answer is",
            "The fitting answer is",
            "That would be",
            "I go with",
            "Correct is",
            "The right choice here is",
            "You should choose",
        ),
    ),
    *compose(
        "<lead> option {label}, which is {answer}",
        lead=("Select", "Choose", "Pick", "The answer is", "I choose", "Go for", "The right one is", "Take"),
    ),
    *compose(
        "<lead>: {answer} (option {label})",
        lead=("Answer", "The answer", "Correct answer", "Solution", "My choice", "Final answer", "Result", "Response"),
    ),
    *compose(
        "<lead>: option {label}, {answer}",
        lead=("Answer", "Final answer", "Correct answer", "My answer", "Choice", "Selected", "Solution", "Response"),
    ),
    *compose(
        "Option {label} <verb>: {answer}",
        verb=("is correct", "is right", "fits best", "it is", "is the one", "answers the question"),
    ),
    "Option {label}: {answer}",
    "Option {label} – {answer}",
    "{label}: {answer}",
)


def label(position: int, layout: str) -> str:
    """The label of the option at ``position``: a letter or a number, as the layout has it."""
    first = LAYOUTS[layout][1]
    return str(position + 1) if first == "1" else chr(ord(first) + position)


def _ask(item: Item, options: tuple[str, ...], layout: str) -> Mapping[str, str]:
    line = LAYOUTS[layout][0]
    lines = [line.format(label=label(place, layout), text=text) for place, text in enumerate(options)]
    return {"question": item.question.strip(), "options": "\n".join(lines)}


def _answer(answer: str, options: tuple[str, ...], layout: str) -> Mapping[str, str]:
    return {"label": label(options.index(answer), layout)}


TEMPLATES = TaskTemplates(
    task=Task.QA_OPTIONS,
    instructions=compose("<ask> <pick>\n{options}", ask=ASKS, pick=PICKS),
    outputs=OUTPUTS,
    layouts=tuple(LAYOUTS),
    plain=Wording("{question}\n{options}", "{answer}", next(iter(LAYOUTS))),
    ask=_ask,
    answer=_answer,
)
