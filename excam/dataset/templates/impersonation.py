"""Answers in a role: a typical person of a country, or a person whose age, sex and origin are given."""

from __future__ import annotations

from collections.abc import Mapping

from excam.dataset.item import Item, Task
from excam.dataset.place import country_name
from excam.dataset.templates.task_templates import TaskTemplates, Wording
from excam.dataset.templates.wording import compose

INSTRUCTIONS = (
    *compose(
        "<intro>:\n{setting}\n{context}\n<task>: '{question}'.",
        intro=(
            "Please configure to this role/setting",
            "Adopt this working role/setting",
            "Take on this role",
            "Answer in this role",
            "Put yourself in this position",
            "Role and setting",
            "Act within this setting",
            "Work with this role and context",
        ),
        task=("Task content", "Task", "Question", "What you are asked", "Your task", "Please answer this"),
    ),
    *compose(
        "<intro> {person}. {context_text}<gap>{question}",
        intro=("You are", "Imagine you are", "Please answer as", "Respond the way you would as"),
        gap=(" ", "\n"),
    ),
)

OUTPUTS = (
    *compose(
        "The answer <verb>: {answer}",
        verb=("to use", "returned", "to give", "given", "chosen", "in this role", "for this setting", "I choose"),
    ),
    *compose(
        "<who>, I <verb>: {answer}",
        who=("In this role", "As this person", "Given this background", "From this point of view"),
        verb=("answer", "would answer", "say", "would say", "choose"),
    ),
    *compose(
        "<kind><mark>: {answer}",
        kind=("Answer", "Response", "Reply", "Decision", "Choice"),
        mark=("", " (final)", " in this role", " for this setting"),
    ),
    *compose(
        "<lead> {answer}", lead=("My answer:", "My answer is:", "I would say:", "Speaking in this role:", "Result:")
    ),
    "{answer}",
)

LAYOUTS = ("Nation", "Country", "Location (country)", "From", "Home country")


def _ask(item: Item, options: tuple[str, ...], layout: str) -> Mapping[str, str]:
    country = country_name(item.country)
    role = (item.role or "").strip()
    context = (item.context or "").strip()
    profile = role if "=" in role or ":" in role else ""
    person = f"this person: {profile}" if profile else role or f"a typical person from {country}"
    told = context or "You are acting as a person from this country."
    question = item.question.strip()
    if options:
        question += "\nPossible answers: " + "; ".join(options)
    return {
        "question": question,
        "setting": profile or f"{layout}: {country or role}",
        "person": person.removesuffix("."),
        "context": f"Context: '{told}'",
        "context_text": context,
    }


TEMPLATES = TaskTemplates(
    task=Task.IMPERSONATION,
    instructions=INSTRUCTIONS,
    outputs=OUTPUTS,
    layouts=LAYOUTS,
    plain=Wording("You are {person}. {context_text}\n{question}", "{answer}", LAYOUTS[0]),
    ask=_ask,
)
