"""Does a probability mean what it says? The reliability table of P(error) and the expected calibration error.

ECE as MSQA defines it: equal-width bins of what was claimed, and the gap between claim and outcome averaged over the
bins by how many samples each holds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

BINS = 10


@dataclass(frozen=True)
class Bin:
    """Samples whose claim lies in [low, high), the last bin closed: how many, what they claim, what happened."""

    low: float
    high: float
    n: int
    claimed: float
    happened: float


def reliability(claimed: ArrayLike, happened: ArrayLike, bins: int = BINS) -> list[Bin]:
    """Mean claim against observed frequency for each bin that holds a sample."""
    claim, outcome = np.asarray(claimed, dtype=np.float64), np.asarray(happened, dtype=np.float64)
    if claim.size and not (claim.min() >= 0 and claim.max() <= 1):
        raise ValueError("probabilities lie between 0 and 1")
    place = np.minimum((claim * bins).astype(np.int64), bins - 1)
    found = []
    for number in range(bins):
        here = place == number
        if here.any():
            edge = number / bins, (number + 1) / bins
            found.append(Bin(*edge, int(here.sum()), float(claim[here].mean()), float(outcome[here].mean())))
    return found


def expected_calibration_error(table: list[Bin]) -> float:
    """The mean gap between claim and outcome, weighted by the bins' sizes; nan of an empty table."""
    n = sum(one.n for one in table)
    return sum(one.n * abs(one.happened - one.claimed) for one in table) / n if n else float("nan")
