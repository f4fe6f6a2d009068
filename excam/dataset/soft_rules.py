"""Soft errors by rule: one cultural entity of a correct text gives way to the same kind of entity of another culture.

No model is needed and nothing is invented: the text was right about its own country, so naming another one in its
place is an error, and the near one (same world region) is the smaller mistake. Only the output is touched, because a
name changed in the question as well would merely change the subject.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from excam.dataset.draw import Deck, fingerprint, shuffled
from excam.dataset.entities import Mention, home_of, lexicons
from excam.dataset.item import Item
from excam.dataset.place import country_name, in_country, in_words, near
from excam.dataset.sample import Origin, Sample, make_sample
from excam.dataset.templates.wording import compose
from excam.dataset.wordsmith import Wordsmith
from excam.report import CORRECT_REPORT, CulturalError, ErrorReport, Location, Severity

ERROR_TYPE = "confusion of cultures"
EXPLANATIONS = (
    *compose(
        "'{wrong}' <belongs> {other}; the text is about {home}<tail>.",
        belongs=("belongs to", "stands for", "points to"),
        tail=("", ", so it should be '{right}'", ": '{right}' is meant"),
    ),
    *compose(
        "<lead> '{right}', not '{wrong}': this is about {home}, not {other}.",
        lead=("It should be", "The text should say", "Correct would be"),
    ),
    "This confuses {home} with {other}: '{right}' is right here.",
    "'{wrong}' is wrong for {home}; '{right}' belongs here.",
)
COUNTRY_EXPLANATIONS = (
    *compose("This is about {home}, not <other>.", other=("{other}", "about {other}")),
    *compose(
        "<what> {other} does not <hold> here: the pair is about {home}.",
        what=("What people do in", "The custom of"),
        hold=("count", "apply"),
    ),
    "It should be {home}; {other} is another culture.",
    "This confuses {home} with {other}.",
    "{other} is wrong here, because the pair is about {home}.",
)
"""For a swap of the country's English name itself, which needs no word on what it stands for."""
SHARE_OF_NORMAD = 4
"""One NormAd item in so many gets a reason with a country: the rest stay plain, or this one error would rule them."""
REASONS = compose(
    "{answer}. <lead>{where}, not{elsewhere}: {rule}",
    lead=(
        "What counts is the etiquette",
        "This is judged by the manners",
        "The rule that applies is the one",
        "Here people follow what is customary",
        "The answer rests on good manners",
        "This goes by what is polite",
    ),
)
"""Both twins name both countries, so that a bag of words sees the same words in them."""


@dataclass(frozen=True)
class Swap:
    """A text with one entity exchanged: ``right`` as it was, ``wrong`` with ``span`` in place of ``before``."""

    right: str
    wrong: str
    before: str
    span: str
    start: int
    home: str
    other: str

    @property
    def severity(self) -> Severity:
        return Severity.MINOR if near(self.home, self.other) else Severity.MAJOR


def swaps(item: Item, *key: object) -> list[Swap]:
    """At most one near and one far swap for a text that names its country more than once.

    Where the swapped name was the only one, what is left may well be true of the other country too.
    """
    lexicon = lexicons().get(item.language)
    home = home_of(item, lexicon) if lexicon else None
    if lexicon is None or home is None:
        return []
    named = {mention.country for mention in lexicon.mentions(item.question + "\n" + item.gold)}
    found: list[Swap] = []
    own = [mention for mention in lexicon.mentions(item.gold) if mention.country == home]
    asked = any(mention.country == home for mention in lexicon.mentions(item.question))
    if len(own) + asked < 2:
        return []
    for mention in shuffled(own, *key, "mention", item.item_id):
        for surface, country in shuffled(list(lexicon.others(mention)), *key, "other", item.item_id, mention.start):
            kept = any(near(home, country) == near(one.home, one.other) for one in found)
            if not kept and country not in named:
                found.append(_exchange(item.gold, mention, surface, country))
    return [swap for swap in found if swap.wrong.find(swap.span) == swap.start]


def _exchange(text: str, mention: Mention, surface: str, country: str) -> Swap:
    wrong = text[: mention.start] + surface + text[mention.end :]
    before = text[mention.start : mention.end]
    return Swap(text, wrong, before, surface, mention.start, mention.country, country)


class RuleErrors:
    """Makes twins by rule from CaLMQA's answers and from NormAd's rules of thumb."""

    def __init__(self, countries: Sequence[str]) -> None:
        self._countries = sorted(set(countries))

    def twins(self, items: Sequence[Item], *key: object) -> Iterator[Sample]:
        """The untouched and the swapped text of every item that has an entity to swap."""
        words = Wordsmith(*key, "rules")
        explanations = {True: Deck(COUNTRY_EXPLANATIONS, *key, "country"), False: Deck(EXPLANATIONS, *key, "swap")}
        reasons = Deck(REASONS, *key, "reason")
        for item in sorted(items, key=lambda item: item.item_id):
            found = self._reasoned(item, reasons.deal(), *key) if item.source == "normad" else swaps(item, *key)
            for swap in found:
                yield from _twins(item, swap, words, explanations[swap.span == country_name(swap.other)].deal())

    def _reasoned(self, item: Item, pattern: str, *key: object) -> list[Swap]:
        """NormAd's stories name no entities, but the answer can name whose etiquette it follows, and get it wrong."""
        home = item.country
        if not home or not item.explanation or int(fingerprint(*key, item.item_id), 16) % SHARE_OF_NORMAD:
            return []
        others = [code for code in self._countries if code != home]
        kind = near if int(fingerprint(*key, "near", item.item_id), 16) % 2 else _far
        others = [code for code in others if kind(home, code)] or others
        if not others:
            return []
        other = shuffled(others, *key, "country", item.item_id)[0]
        right, wrong = _told(pattern, item, home, other), _told(pattern, item, other, home)
        name = country_name(other)
        return [Swap(right, wrong, country_name(home), name, wrong.find(name), home, other)]


def _far(one: str, other: str) -> bool:
    return not near(one, other)


def _told(pattern: str, item: Item, code: str, other: str) -> str:
    return pattern.format(answer=item.gold, where=in_country(code), elsewhere=in_country(other), rule=item.explanation)


def _twins(item: Item, swap: Swap, words: Wordsmith, explanation: str) -> Iterator[Sample]:
    instruction, (right, wrong) = words.say(item, item.task, (swap.right, swap.wrong))
    if wrong.text.find(swap.span) != wrong.start + swap.start:
        return
    names = {"right": swap.before, "wrong": swap.span, "home": in_words(swap.home), "other": in_words(swap.other)}
    told = explanation.format_map(names)
    error = CulturalError(
        severity=swap.severity,
        type=ERROR_TYPE,
        location=Location.OUTPUT,
        span=swap.span,
        explanation=told[:1].upper() + told[1:],
    )
    twin = fingerprint(item.item_id, "swap", swap.start, swap.span)
    yield make_sample(item, item.task, instruction, right.text, CORRECT_REPORT, twin_id=twin)
    yield make_sample(item, item.task, instruction, wrong.text, ErrorReport(errors=(error,)), Origin.SOFT_RULE, twin)
