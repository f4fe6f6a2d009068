"""Texts on a topic: the item's question is the topic, its answer a text that people found correct."""

from __future__ import annotations

from excam.dataset.item import Task
from excam.dataset.templates.task_templates import TaskTemplates, Wording
from excam.dataset.templates.wording import compose

INSTRUCTIONS = (
    *compose(
        "<verb> <kind> <on> '{question}'.",
        verb=("Write", "Please write", "Compose", "Draft", "Generate", "Prepare"),
        kind=(
            "a short text",
            "an article-style text",
            "a brief paragraph",
            "an informative passage",
            "a short overview",
        ),
        on=("about", "on the topic of"),
    ),
    *compose(
        "<ask>: '{question}'.",
        ask=(
            "Write an article-style text on",
            "I need a few sentences on",
            "Tell me something about",
            "Give me a short introduction to",
            "Describe this topic in a few words",
            "Summarise what is known about",
            "Generate a culturally correct text about",
            "Write one or two factual sentences on",
        ),
    ),
)

OUTPUTS = (
    *compose(
        "<here> <kind><topic>:<gap>{answer}",
        here=("Here is", "This is", "Below is"),
        kind=("a short text", "the text", "a brief overview", "a paragraph"),
        topic=("", " on the topic"),
        gap=(" ", "\n"),
    ),
    *compose(
        "<lead> {answer}",
        lead=(
            "Text:",
            "Generated text:",
            "Article:",
            "Draft:",
            "Overview:",
            "Summary:",
            "In a few words:",
            "Sure!",
            "Of course.",
            "Certainly.",
        ),
    ),
    "{answer}",
)


TEMPLATES = TaskTemplates(
    task=Task.TEXT_GENERATION,
    instructions=INSTRUCTIONS,
    outputs=OUTPUTS,
    plain=Wording("{question}", "{answer}", ""),
)
