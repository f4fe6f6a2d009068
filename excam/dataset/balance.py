"""Which wrong answer stands against the right one: chosen so that no answer gives itself away.

An answer that is right in ten countries and wrong in two needs no culture to be judged: a bag of words learns it.
So wrong answers are chosen such that every answer is wrong about as often as it is right, among the twins of one
source and split; a twin is a step from its right to its wrong answer, and balance means that every answer is left as
often as it is reached.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from excam.dataset.draw import fingerprint, shuffled
from excam.dataset.item import Item

LONGEST_SPAN = 300
"""A wrong answer longer than this cannot be quoted as a span."""

RARE = 2
UNEVEN = 0.04


@dataclass(frozen=True)
class Choice:
    """One wrong answer chosen for an item; ``turn`` tells repetitions of the same choice apart."""

    item: Item
    wrong: str
    turn: int = 0


def answer_key(text: str) -> str:
    """The form in which answers are counted: case and outer punctuation tell nothing."""
    return text.casefold().strip(" \t\n.,;:!?\"'“”‘’()")


class _Ledger:
    """How often each answer was right minus how often it was wrong, and what one more twin would do to that."""

    def __init__(self) -> None:
        self.excess: Counter[str] = Counter()

    def change(self, right: str, wrong: str) -> int:
        if right == wrong:
            return 0
        grow = abs(self.excess[right] + 1) - abs(self.excess[right])
        return grow + abs(self.excess[wrong] - 1) - abs(self.excess[wrong])

    def bears(self, right: str, wrong: str, again: bool, rounds: int) -> bool:
        """Whether one more twin keeps the balance, or touches answers too rare to teach anything by themselves."""
        change = self.change(right, wrong)
        if change <= 0:
            return change < 0 or not again
        return not again and self.excess[right] < rounds and self.excess[wrong] > -RARE

    def add(self, right: str, wrong: str, times: int = 1) -> None:
        self.excess[right] += times
        self.excess[wrong] -= times


def usable(item: Item) -> list[str]:
    """The wrong answers of an item that can be shown: distinct, short enough to quote, and not the right one."""
    seen = {answer_key(item.gold)}
    found = []
    for wrong in item.wrong:
        key = answer_key(wrong)
        if key and key not in seen and len(wrong) <= LONGEST_SPAN:
            seen.add(key)
            found.append(wrong)
    return found


def draw(items: Sequence[Item], seed: int, rounds: int, most: int) -> list[Choice]:
    """At most ``rounds`` wrong answers for each item at random, ``most`` in all: how often an answer is right is kept.

    For what people say of themselves. That most replies are not ironic, or that few call their life very bad, is part
    of what a judge of them must know; an error there is a claim that the share of each answer makes unlikely.
    """
    order = sorted(items, key=lambda item: fingerprint(seed, "choose", item.item_id))
    wrongs = {item.item_id: shuffled(usable(item), seed, "wrong", item.item_id) for item in order}
    turns = ((item, turn) for turn in range(rounds) for item in order if turn < len(wrongs[item.item_id]))
    return [Choice(item, wrongs[item.item_id][turn]) for item, turn in itertools.islice(turns, most)]


def choose(items: Sequence[Item], seed: int, rounds: int, most: int, repeats: int = 1) -> list[Choice]:
    """At most ``rounds`` wrong answers for each item and ``most`` choices in all, kept in balance.

    The first round serves every item; later rounds only add what does not tip the balance; ``repeats`` lets a rare
    right answer be used again (in another wording) against a common wrong one. At last the twins whose right answer
    is right far too often and whose wrong answer is wrong far too often are taken back; an item may lose its only twin
    so, which costs data and saves the judge from a shortcut.
    """
    order = sorted(items, key=lambda item: fingerprint(seed, "choose", item.item_id))
    wrongs = {item.item_id: shuffled(usable(item), seed, "wrong", item.item_id) for item in order}
    ledger = _Ledger()
    used: Counter[tuple[str, str]] = Counter()
    chosen: list[Choice] = []
    for turn in range(rounds):
        for item in order:
            if len(chosen) >= most:
                break
            right = answer_key(item.gold)
            free = [wrong for wrong in wrongs[item.item_id] if used[item.item_id, wrong] < repeats]
            if not free:
                continue
            best = min(
                free,
                key=lambda wrong: (
                    ledger.change(right, answer_key(wrong)),
                    used[item.item_id, wrong],
                    -ledger.excess[answer_key(wrong)],
                ),
            )
            again = used[item.item_id, best]
            if turn and not ledger.bears(right, answer_key(best), again > 0, rounds):
                continue
            chosen.append(Choice(item, best, again))
            used[item.item_id, best] += 1
            ledger.add(right, answer_key(best))
    return _prune(chosen, ledger)


def _prune(chosen: list[Choice], ledger: _Ledger) -> list[Choice]:
    uses: Counter[str] = Counter()
    for choice in chosen:
        uses.update((answer_key(choice.item.gold), answer_key(choice.wrong)))
    kept: list[Choice] = []
    for choice in reversed(chosen):
        right, wrong = answer_key(choice.item.gold), answer_key(choice.wrong)
        if ledger.excess[right] > tolerance(uses[right]) and -ledger.excess[wrong] > tolerance(uses[wrong]):
            ledger.add(right, wrong, -1)
            uses.subtract((right, wrong))
        else:
            kept.append(choice)
    return kept[::-1]


def tolerance(uses: int) -> float:
    """How far right and wrong uses of an answer may lie apart: a rare answer teaches nobody, a common one does."""
    return max(RARE, UNEVEN * uses)
