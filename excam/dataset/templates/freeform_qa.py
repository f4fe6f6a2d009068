"""Questions without answer options: the answer is a word, a sentence or a whole text."""

from __future__ import annotations

from excam.dataset.item import Task
from excam.dataset.templates.task_templates import TaskTemplates, Wording
from excam.dataset.templates.wording import compose

INSTRUCTIONS = (
    *compose(
        "<ask> <which><quote>",
        ask=(
            "Answer",
            "Please answer",
            "Respond to",
            "Please reply to",
            "Give me an answer to",
            "Provide an answer to",
            "Help me with",
            "I would like an answer to",
        ),
        which=("this question", "the following question", "the question"),
        quote=(": '{question}'.", ":\n{question}"),
    ),
    *compose(
        "<ask>: '{question}'.",
        ask=(
            "Give your response to",
            "Please state your answer clearly for",
            "Respond to this question with your answer",
            "State your answer to",
            "What would you answer to",
            "Tell me your answer to",
            "Write down your answer to",
            "Give a culturally correct answer to",
        ),
    ),
    *compose(
        "<ask> {question}",
        ask=("Question:", "Q:", "I was wondering:", "Someone asked me:", "Quick question:", "Can you help?", "Hello!"),
    ),
)

OUTPUTS = (
    *compose(
        "<det> <adjective>answer<link> {answer}",
        det=("The", "My"),
        adjective=("", "short ", "final "),
        link=(":", " is:", " would be:"),
    ),
    *compose(
        "The <adjective> <noun><link> {answer}",
        adjective=("appropriate", "correct", "right", "fitting"),
        noun=("answer", "response", "reply"),
        link=(":", " is:"),
    ),
    *compose(
        "<lead> {answer}",
        lead=(
            "Answer:",
            "A:",
            "Response:",
            "Reply:",
            "Final answer:",
            "In short:",
            "To answer your question:",
            "Here is the answer:",
            "Here is my answer:",
            "I would say:",
            "I would answer:",
            "This is what I know:",
            "As far as I know:",
        ),
    ),
    *compose("<lead>\n{answer}", lead=("This is correct:", "Answer:", "Sure, here is the answer:", "Here you go:")),
    "{answer}",
)


TEMPLATES = TaskTemplates(
    task=Task.FREEFORM_QA,
    instructions=INSTRUCTIONS,
    outputs=OUTPUTS,
    plain=Wording("{question}", "{answer}", ""),
)
