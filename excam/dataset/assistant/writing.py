"""Grammar, rewriting, summaries, emails and notes, in English."""

from __future__ import annotations

import random

from excam.dataset.assistant.family import Chore, Family, fact, pick
from excam.dataset.assistant.numbers import PEOPLE
from excam.dataset.item import Task

DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday")
TEAMS = ("billing", "design", "support", "platform", "hiring", "research", "warehouse", "security", "mobile")
ACTIONS = (
    "move the release to next week",
    "rewrite the onboarding page",
    "replace the old scanner",
    "hire a contractor",
    "archive unused projects",
    "raise the backup frequency",
    "test the new dashboard",
    "cut the weekly meeting to 30 minutes",
    "order new monitors",
    "update the style guide",
    "drop support for the old API",
    "measure page load times",
)
NOUNS = (
    "window",
    "cable",
    "table",
    "engine",
    "paper",
    "garden",
    "button",
    "ladder",
    "mirror",
    "bottle",
    "magnet",
    "pencil",
    "helmet",
    "carpet",
    "needle",
    "wallet",
    "screen",
    "filter",
)


def _grammar(rng: random.Random) -> Chore:
    wrong, right = fact(rng, "grammar")
    ask = pick(
        rng,
        (
            "Correct this sentence: {}",
            "Is there a mistake in '{}'? Please fix it.",
            "Proofread: {}",
            "Fix the grammar: {}",
        ),
    )
    return Chore(ask.format(wrong), pick(rng, ("{}", "Corrected: {}", "It should read: {}")).format(right), (wrong,))


def _rewrite(rng: random.Random) -> Chore:
    text, right, wrong = fact(rng, "rewrite")
    ask = pick(
        rng,
        ("Make this more polite: {}", "Rephrase in a friendly business tone: {}", "How can I say '{}' more nicely?"),
    )
    return Chore(ask.format(text), right, (wrong,))


def _plural(rng: random.Random) -> Chore:
    one, many = fact(rng, "plural")
    return Chore(pick(rng, ("What is the plural of '{}'?", "Plural form of {}?")).format(one), many, (one + "s",))


def _synonym(rng: random.Random) -> Chore:
    word, right, wrong = fact(rng, "synonym")
    return Chore(pick(rng, ("Give me a synonym for '{}'.", "Another word for {}?")).format(word), right, (wrong,))


def _sort(rng: random.Random) -> Chore:
    words = rng.sample(NOUNS, rng.randint(4, 6))
    ask = pick(rng, ("Sort these words alphabetically: {}", "Put in alphabetical order: {}")).format(", ".join(words))
    return Chore(ask, ", ".join(sorted(words)), (", ".join(sorted(words, reverse=True)),))


def _letters(rng: random.Random) -> Chore:
    word = pick(rng, NOUNS)
    return Chore(f"How many letters does the word '{word}' have?", str(len(word)), (str(len(word) + 1),))


def _meeting(rng: random.Random) -> tuple[str, str, str, str]:
    team, day, late = pick(rng, TEAMS), *rng.sample(DAYS, 2)
    person, other = rng.sample(PEOPLE, 2)
    first, second = rng.sample(ACTIONS, 2)
    notes = (
        f"The {team} team met on {day}. After a while everyone agreed to {first}. {other} asked whether it would "
        f"also make sense to {second}, and most people said yes. {person} will prepare a plan by {late}. That was all."
    )
    right = f"The {team} team agreed to {first} and to {second}; {person} prepares a plan by {late}."
    return (
        notes,
        right,
        f"The {team} team rejected every proposal; {other} prepares a plan by {day}.",
        f"{person}: plan by {late}",
    )


def _summary(rng: random.Random) -> Chore:
    notes, right, wrong, _ = _meeting(rng)
    ask = pick(
        rng, ("Summarise in one sentence:\n{}", "TL;DR please: {}", "Shorten these notes: {}", "What was decided?\n{}")
    )
    return Chore(ask.format(notes), right, (wrong,))


def _todo(rng: random.Random) -> Chore:
    notes, _, wrong, right = _meeting(rng)
    return Chore(f"Extract the action items from these notes: {notes}", f"- {right}", (f"- {wrong}",))


def _email(rng: random.Random) -> Chore:
    person, day, other_day = pick(rng, PEOPLE), *rng.sample(DAYS, 2)
    why = pick(
        rng,
        (
            "a clash in my calendar",
            "a delayed delivery",
            "a doctor's appointment",
            "the office being closed",
            "a late train",
        ),
    )
    ask = pick(
        rng,
        (
            "Write a short email to {0} moving our {1} call to {2} because of {3}.",
            "Email to {0}: the meeting on {1} must move to {2}, reason: {3}. Keep it brief.",
        ),
    )
    form = "Hi {},\n\nbecause of {} I cannot make {}. Could we meet on {} instead?\n\nBest regards"
    right = form.format(person, why, day, other_day)
    return Chore(ask.format(person, day, other_day, why), right, (form.format(person, why, other_day, day),))


def _product(rng: random.Random) -> Chore:
    thing = pick(rng, NOUNS)
    quality, other = rng.sample(
        ("light", "sturdy", "waterproof", "foldable", "quiet", "recyclable", "affordable", "compact"), 2
    )
    ask = pick(rng, ("Write a one-line product description for a {} {}.", "Slogan for a {} {}, please."))
    text = pick(rng, ("The {1} that stays {0}, wherever you need it.", "Simply {0}: the {1} made for every day."))
    return Chore(ask.format(quality, thing), text.format(quality, thing), (text.format(other, thing),))


def _reply(rng: random.Random) -> Chore:
    issue = pick(
        rng,
        (
            "the parcel arrived damaged",
            "the password reset mail never came",
            "I was charged twice",
            "the app keeps crashing",
            "the discount code is not accepted",
            "the download is very slow",
        ),
    )
    sorry = issue.replace("I was", "you were")
    right = f"I am sorry that {sorry}. We are looking into it and will get back to you within a day."
    return Chore(f"A customer writes that {issue}. Draft a reply.", right, ("Please do not contact us again.",))


FAMILIES = (
    *(
        Family(f"writing/{make.__name__.strip('_')}", make)
        for make in (_grammar, _rewrite, _sort, _summary, _todo, _email, _product)
    ),
    *(
        Family(f"writing/{make.__name__.strip('_')}", make, task=Task.FREEFORM_QA)
        for make in (_plural, _synonym, _letters)
    ),
    Family("writing/agent", _reply, task=Task.IMPERSONATION, role="a customer support agent"),
    Family("writing/reply", _reply),
)
