"""Twins whose lengths tell nothing: a right answer is as often the longer of the two as it is the shorter.

Whoever writes questions of multiple choice takes more care over the right option, which then is the longest. A judge
could learn that instead of the facts, and in dev and test it is no help.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from excam.dataset.balance import RARE, Choice


def length_step(text: str) -> int:
    """How long a text is, in steps of about a tenth."""
    return round(8 * math.log(1 + len(text)))


def even(choices: Sequence[Choice]) -> list[Choice]:
    """The choices without those that tip the lengths; what was chosen first stays.

    Of any two lengths the right answer then has the one as often as the other, so that neither the longer of two nor
    the length of one by itself is a hint. So few as an atlas of one's own may have are left as they are.
    """
    steps = [(length_step(choice.item.gold), length_step(choice.wrong)) for choice in choices]
    there = Counter(steps)
    room = {(right, wrong): min(count, there[wrong, right] + RARE) for (right, wrong), count in there.items()}
    kept = []
    for choice, step in zip(choices, steps, strict=True):
        if room[step]:
            room[step] -= 1
            kept.append(choice)
    return kept
