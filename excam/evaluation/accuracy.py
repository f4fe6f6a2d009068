"""The paper's main figures: scaled accuracy of the decision, and how a score's order agrees with the truth's."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Counts = NDArray[np.float64]
"""Rows of (errors, errors found, pairs without an error, of these those let be); a sum of rows is a row again."""


def class_counts(is_error: ArrayLike, right: ArrayLike) -> Counts:
    """One row of counts a sample, so that any slice or resample of them is a sum."""
    wrong = np.asarray(is_error, dtype=bool)
    hit = np.asarray(right, dtype=bool)
    return np.stack([wrong, wrong & hit, ~wrong, ~wrong & hit], axis=-1).astype(np.float64)


def scaled_accuracy(counts: Counts) -> Counts:
    """2·accuracy - 1 with both classes alike: 0 is chance, 1 perfect; nan where a class is missing.

    Both classes weigh the same whatever their shares are, so that a judge which always says one thing gets 0.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(counts[..., 1] / counts[..., 0] + counts[..., 3] / counts[..., 2] - 1)


def kendall(gold: ArrayLike, score: ArrayLike, weight: ArrayLike | None = None) -> float:
    """Kendall's tau-b, which allows for ties; ``weight`` counts a sample several times, as a resample does.

    Concordant pairs are counted level by level of ``gold``, which has few, so that 34,000 samples take milliseconds
    and a bootstrap of them seconds. nan where either side has no two different values.
    """
    levels, which = np.unique(np.asarray(gold, dtype=np.float64), return_inverse=True)
    places, place = np.unique(np.asarray(score, dtype=np.float64), return_inverse=True)
    times = np.ones(which.size) if weight is None else np.asarray(weight, dtype=np.float64)
    below = np.zeros(places.size)
    balance = 0.0
    sizes = np.zeros(levels.size)
    for level in range(levels.size):
        here = which == level
        row = np.bincount(place[here], weights=times[here], minlength=places.size)
        lower = np.cumsum(below) - below
        higher = below.sum() - lower - below
        balance += float((row * (lower - higher)).sum())
        below += row
        sizes[level] = row.sum()
    untied_gold, untied_score = _untied(sizes), _untied(below)
    if untied_gold <= 0 or untied_score <= 0:
        return float("nan")
    return balance / float(np.sqrt(untied_gold) * np.sqrt(untied_score))


def _untied(sizes: NDArray[np.float64]) -> float:
    """How many pairs of samples are of two different kinds, given the size of each kind."""
    total = sizes.sum()
    return float((total * total - (sizes * sizes).sum()) / 2)
