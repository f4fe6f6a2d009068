"""Pairwise accuracy with tie calibration (Deutsch, Foster and Freitag, 2023): ties count, their reach is fitted.

A gold standard that is 0 or -5 ties most pairs; a score that is a probability never ties. Calling two scores tied when
they lie within epsilon, with the epsilon that suits the score best, puts both on one footing.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

MOST_PAIRS = 1_000_000


@dataclass(frozen=True)
class TieCalibrated:
    """The accuracy reached with the best epsilon, that epsilon, and how many pairs of samples it was found on."""

    accuracy: float
    epsilon: float
    pairs: int


def pairs_of(n: int, most: int = MOST_PAIRS, seed: int = 0) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All pairs of n samples where they are at most ``most``, else that many drawn at random (with replacement)."""
    if n * (n - 1) // 2 <= most:
        first, second = np.triu_indices(n, 1)
        return first.astype(np.int64), second.astype(np.int64)
    rng = np.random.default_rng(seed)
    first = rng.integers(0, n, most)
    second = (first + rng.integers(1, n, most)) % n
    return first, second


def tie_calibrated(gold: ArrayLike, score: ArrayLike, most: int = MOST_PAIRS, seed: int = 0) -> TieCalibrated:
    """The share of pairs put right: tied where gold ties, in gold's order elsewhere; nan of fewer than two samples.

    Sorting the pairs by how far their scores lie apart lets one pass of sums try every epsilon that could matter.
    """
    truth, said = np.asarray(gold, dtype=np.float64), np.asarray(score, dtype=np.float64)
    first, second = pairs_of(truth.size, most, seed)
    if first.size == 0:
        return TieCalibrated(float("nan"), 0.0, 0)
    wanted, given = np.sign(truth[first] - truth[second]), said[first] - said[second]
    apart = np.abs(given)
    order = np.argsort(apart, kind="stable")
    apart, tied = apart[order], wanted[order] == 0
    agrees = (~tied) & (np.sign(given[order]) == wanted[order])
    won = np.cumsum(tied) + agrees.sum() - np.cumsum(agrees)
    last = np.append(apart[1:] != apart[:-1], True)  # an epsilon ties all pairs that lie equally far apart
    candidates, found = apart[last], won[last]
    if candidates[0] > 0:  # no pair ties exactly: epsilon 0 ties none
        candidates, found = np.append(0.0, candidates), np.append(agrees.sum(), found)
    best = int(np.argmax(found))
    return TieCalibrated(float(found[best] / first.size), float(candidates[best]), int(first.size))


def right_pairs(
    gold: ArrayLike, score: ArrayLike, epsilon: float, most: int = MOST_PAIRS, seed: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """The same pairs, and whether each is put right at a given epsilon: what an interval resamples."""
    truth, said = np.asarray(gold, dtype=np.float64), np.asarray(score, dtype=np.float64)
    first, second = pairs_of(truth.size, most, seed)
    given = said[first] - said[second]
    order = np.where(np.abs(given) <= epsilon, 0.0, np.sign(given))
    return first, second, order == np.sign(truth[first] - truth[second])


def resampled_accuracy(
    right: NDArray[np.bool_], first: NDArray[np.int64], second: NDArray[np.int64], weight: NDArray[np.float64]
) -> float:
    """The share of such pairs put right in a resample, in which two copies of one sample are a pair that rightly ties.

    ``weight`` says how often each sample was drawn. Of pairs that were themselves drawn, as many copies count.
    """
    times, n = weight[first] * weight[second], weight.size
    copies = float((weight * (weight - 1)).sum()) * first.size / (n * (n - 1))
    return (float(times[right].sum()) + copies) / (float(times.sum()) + copies)
