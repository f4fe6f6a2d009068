"""Ordinary assistant tasks: asked the way people ask, mostly without any wrapper."""

from __future__ import annotations

from excam.dataset.item import Task
from excam.dataset.templates.task_templates import TaskTemplates, Wording
from excam.dataset.templates.wording import compose

INSTRUCTIONS = (
    *compose(
        "<hello> {question}", hello=("Hi,", "Hello!", "Hey,", "Good morning.", "Please help:", "Task:", "Quick one:")
    ),
    *compose(
        "{question}<end>", end=("", "\nThanks!", "\nKeep it short.", "\nThank you in advance.", " Please be brief.")
    ),
    *compose(
        "<ask> <which>:\n{question}",
        ask=("Please do", "Work on", "Solve", "Help me with", "Take care of"),
        which=("this task", "the following task", "this", "the following"),
    ),
    *compose(
        "<ask>: '{question}'.",
        ask=(
            "Give your response to",
            "Please state your answer clearly for",
            "State your answer to",
            "Respond to",
            "What would you answer to",
            "Task content",
            "Your task",
        ),
    ),
    *compose(
        "<ask> {question}",
        ask=(
            "I need help.",
            "At work I have this:",
            "For my homework:",
            "One more thing:",
            "Next:",
            "Can you do this for me?",
            "Could you help?",
            "Question:",
            "Q:",
            "Prompt:",
            "User:",
        ),
    ),
)
OUTPUTS = (
    *compose(
        "<lead> {answer}",
        lead=(
            "Sure!",
            "Of course.",
            "Certainly.",
            "Here you go:",
            "Done:",
            "Answer:",
            "Result:",
            "Solution:",
            "Final answer:",
            "Response:",
            "The answer is:",
            "The result is:",
            "In short:",
            "A:",
        ),
    ),
    *compose(
        "<here> <what>:<gap>{answer}",
        here=("Here is", "This is"),
        what=("the answer", "the result", "my suggestion", "the solution", "what I came up with"),
        gap=(" ", "\n"),
    ),
    *compose(
        "{answer}<tail>", tail=("", "\n\nLet me know if you need more.", "\n\nI hope this helps.", "\n\nAnything else?")
    ),
    *compose(
        "The <adjective> answer<link> {answer}",
        adjective=("appropriate", "correct", "right", "final"),
        link=(":", " is:"),
    ),
    *compose("My <noun><link> {answer}", noun=("answer", "response"), link=(":", " is:")),
)


TEMPLATES = TaskTemplates(
    task=Task.ASSISTANT,
    instructions=INSTRUCTIONS,
    outputs=OUTPUTS,
    plain=Wording("{question}", "{answer}", ""),
)
