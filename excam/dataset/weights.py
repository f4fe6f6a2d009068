"""How much each sample counts in training, so that a large source does not drown a small one.

More items helped and an uneven mix hurt: so every item stays in, and weights even the sources out. A weight is bounded,
because a source of a thousand samples that weighs as much as one of fifty thousand would only be learnt by heart.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from excam.dataset.atlas import choices, everyday, opinions

PORTIONS = {everyday.SOURCE: 4.0, choices.CUSTOMS: 3.0, opinions.SOURCE: 2.0}
"""Sources that count more than the one portion of any other: their questions are as many as those of several."""

HEAVIEST = 4.0
ORDINARY_SHARE = 0.175
"""The share of ordinary, non-cultural pairs in the total weight: without them a judge raises false alarms."""

Key = TypeVar("Key")


def even(
    counts: Mapping[Key, int], budget: float, heaviest: float, portions: Mapping[Key, float] | None = None
) -> dict[Key, float]:
    """A weight for the samples of each class: totals by portion, except where that would make a weight too heavy."""
    weights: dict[Key, float] = {}
    left = {key: count for key, count in counts.items() if count}
    portion = {key: (portions or {}).get(key, 1.0) for key in left}
    while left:
        share = budget / sum(portion[key] for key in left)
        light = {key: count for key, count in left.items() if count * heaviest < share * portion[key]}
        if not light:
            weights.update({key: share * portion[key] / count for key, count in left.items()})
            break
        for key, count in light.items():
            weights[key] = heaviest
            budget -= heaviest * count
            del left[key]
    return weights


def sample_weights(counts: Mapping[tuple[str, bool], int]) -> dict[tuple[str, bool], float]:
    """The weight of a sample by its source and whether it is about culture; over all samples they average 1."""
    total = sum(counts.values())
    cultural = {key: count for key, count in counts.items() if key[1] and count}
    ordinary = {key: count for key, count in counts.items() if not key[1] and count}
    share = ORDINARY_SHARE if cultural and ordinary else float(not cultural)
    portions = {key: PORTIONS.get(key[0], 1.0) for key in cultural}
    weights = even(cultural, total * (1 - share), HEAVIEST, portions) | even(ordinary, total * share, HEAVIEST)
    mean = sum(weights[key] * counts[key] for key in weights) / total if total else 1.0
    return {key: weight / mean for key, weight in weights.items()}
