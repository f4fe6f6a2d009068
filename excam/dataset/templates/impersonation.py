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
        "<intro> {person}.{told}<gap>{question}",
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


TYPICAL = "a typical person from "
AS_A_PERSON = "You are acting as a person from this country."


def _ask(item: Item, options: tuple[str, ...], layout: str) -> Mapping[str, str]:
    """The role as lines of a setting and as a phrase: a profile stands as it is, a country under the layout's label."""
    role, told = (item.role or "").strip(), (item.context or "").strip()
    country = country_name(item.country) or (role.removeprefix(TYPICAL) if role.startswith(TYPICAL) else "")
    if "=" in role or ":" in role:
        setting, person = role, f"this person: {role}"
    elif country:
        setting, person = f"{layout}: {country}", role or f"{TYPICAL}{country}"
    else:
        setting, person = f"Role: {role}", role
    question = item.question.strip()
    if options:
        question += "\nPossible answers: " + "; ".join(options)
    return {
        "question": question,
        "setting": setting,
        "context": f"Context: '{told or (AS_A_PERSON if country else 'You are acting in this role.')}'",
        "person": person.removesuffix("."),
        "told": "" if told in ("", AS_A_PERSON) else f" {told}",
    }


TEMPLATES = TaskTemplates(
    task=Task.IMPERSONATION,
    instructions=INSTRUCTIONS,
    outputs=OUTPUTS,
    layouts=LAYOUTS,
    plain=Wording("You are {person}.{told}\n{question}", "{answer}", LAYOUTS[0]),
    ask=_ask,
)
