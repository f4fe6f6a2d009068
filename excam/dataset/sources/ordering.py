"""Orders wrong options and shown options without chance, so that neither position nor wording gives the label away."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence

from excam.dataset.item import Item
from excam.dataset.sources.grouping import digest

SHOWN_WRONG = 3
_ROUNDS = 6


def _hashed(purpose: str, item_id: str, options: Sequence[str]) -> list[str]:
    return sorted(options, key=lambda option: digest(purpose, item_id, option))


def show(item_id: str, gold: str, wrong: Sequence[str], most: int = SHOWN_WRONG) -> tuple[str, ...]:
    """The right answer among the first wrong ones, in an order that depends on nothing but a hash."""
    return tuple(_hashed("shown", item_id, (gold, *wrong[:most])))


def spread(items: Sequence[Item]) -> list[Item]:
    """Order each item's wrong options so that the first few make every answer about as often wrong as right.

    Left to chance, an answer that is right for one country would be wrong for all the others, and a classifier
    that never reads the question could tell errors by the answer alone. Each round gives every item the option
    that is so far the least often wrong, counted within its group first and in the whole source second.
    """
    near: defaultdict[str, Counter[str]] = defaultdict(Counter)
    far: Counter[str] = Counter()
    for item in items:
        gold = item.gold.casefold()
        near[item.group][gold] -= 1
        far[gold] -= 1
    left = [[(option.casefold(), option) for option in _hashed("drawn", item.item_id, item.wrong)] for item in items]
    taken: list[list[str]] = [[] for _ in items]
    turns = sorted(range(len(items)), key=lambda index: digest(items[index].item_id))
    for _ in range(_ROUNDS):
        for index in turns:
            if not left[index]:
                continue
            here = near[items[index].group]
            best = min(left[index], key=lambda option: (here[option[0]], far[option[0]]))
            left[index].remove(best)
            taken[index].append(best[1])
            here[best[0]] += 1
            far[best[0]] += 1
    return [
        item.model_copy(update={"wrong": (*first, *(option for _, option in others))})
        for item, first, others in zip(items, taken, left, strict=True)
    ]
