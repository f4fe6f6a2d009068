"""Why a hard error is one: every explanation names the answer that should stand there instead."""

from __future__ import annotations

from dataclasses import dataclass

from excam.dataset.item import Item, Task
from excam.dataset.place import in_country
from excam.dataset.templates.wording import compose

LONGEST_ANSWER = 220


@dataclass(frozen=True)
class ErrorKind:
    """A family of hard errors: the free-text type the report states and the wordings of its explanation."""

    type: str
    explanations: tuple[str, ...]


FACT = ErrorKind(
    "incorrect information",
    (
        *compose(
            "<lead> '{gold}'<tail>.",
            lead=("The correct answer is", "The right answer is", "It should be", "The answer should have been"),
            tail=("", ", not '{wrong}'", " instead of '{wrong}'"),
        ),
        *compose(
            "'{wrong}' is <bad>{where}; <lead> '{gold}'.",
            bad=("not correct", "wrong", "not the right answer"),
            lead=("the correct answer is", "it should be", "the right answer is"),
        ),
    ),
)
OPINION = ErrorKind(
    "misrepresentation of values",
    (
        *compose(
            "The most common answer{where} is '{gold}'<tail>.",
            tail=("", ", not '{wrong}'", " rather than '{wrong}'"),
        ),
        *compose(
            "<most>; '{wrong}' misrepresents the prevailing view.",
            most=(
                "More people{where} answer '{gold}' than anything else",
                "The largest group{where} answers '{gold}'",
                "People{where} tend to answer '{gold}'",
                "People{where} most often answer '{gold}'",
            ),
        ),
        "'{wrong}' does not represent the typical view{where}, which is '{gold}'.",
        "A typical person{where} would answer '{gold}', not '{wrong}'.",
    ),
)
NORM = ErrorKind(
    "misjudged social norm",
    (
        *compose(
            "The answer should be '{gold}'<tail>. {reason}",
            tail=("", ", not '{wrong}'", " instead of '{wrong}'"),
        ),
        *compose("'{wrong}' misjudges the situation{where}; <lead> '{gold}'. {reason}", lead=("it is", "right is")),
        "By the norms{where} the answer is '{gold}'. {reason}",
    ),
)
IRONY = ErrorKind(
    "misread irony",
    (
        *compose(
            "<who> reads this text differently: '{gold}'<tail>",
            who=("A person with this background", "Someone in this role", "This reader"),
            tail=(".", " is the right answer here."),
        ),
        "For this reader the answer is '{gold}', not '{wrong}'.",
        "The answer for this person should be '{gold}' instead of '{wrong}'.",
        "'{wrong}' does not match how this person understands the text; it should be '{gold}'.",
    ),
)


def kind_of(item: Item) -> ErrorKind:
    """Which family of error a wrong answer to ``item`` is: facts unless a role was played."""
    if item.task is not Task.IMPERSONATION:
        return FACT
    return {"epic": IRONY, "normad": NORM}.get(item.source, OPINION)


def _shorten(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST_ANSWER else text[:LONGEST_ANSWER].rsplit(" ", 1)[0] + " …"


def explain(pattern: str, item: Item, wrong: str) -> str:
    """One explanation of why ``wrong`` is an error, naming the gold answer."""
    where = "" if item.source == "epic" else in_country(item.country)
    reason = _shorten(item.explanation or "")
    text = pattern.format(gold=_shorten(item.gold), wrong=_shorten(wrong), where=where, reason=reason).strip()
    return (text[:1].upper() + text[1:]).replace(".'.", ".'")
