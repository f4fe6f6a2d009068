"""Two judges on the same samples: how far apart they are, and whether that could be chance."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from excam.evaluation.accuracy import kendall
from excam.evaluation.figures import HEADLINE, headline, scaled
from excam.evaluation.judged import Judged
from excam.evaluation.resample import group_sums, interval
from excam.fault import UserError
from excam.stats import paired_permutation_test

PERMUTATIONS = 1000
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """A measure of both judges on the samples both judged, A minus B with its interval, and the p-value."""

    measure: str
    slice: str
    n: int
    a: float
    b: float
    difference: float
    low: float
    high: float
    p_value: float


def aligned(a: Judged, b: Judged) -> tuple[Judged, Judged]:
    """Both tables with the samples both judged, in one order."""
    place = {name: row for row, name in enumerate(b.table["sample_id"].to_pylist())}
    mine = [row for row, name in enumerate(a.table["sample_id"].to_pylist()) if name in place]
    theirs = [place[a.table["sample_id"][row].as_py()] for row in mine]
    if not mine:
        raise UserError("the two files have no sample in common", "judge the same split of the same build with both")
    both = Judged(a.table.take(mine), a.run), Judged(b.table.take(theirs), b.run)
    if not (both[0].strings("label") == both[1].strings("label")).all():
        raise UserError("the two files give different labels to one sample", "judge the same build with both")
    return both


def compare(a: Judged, b: Judged, permutations: int = PERMUTATIONS) -> list[Difference]:
    """Scaled accuracy on hard errors over the sources, for each source, and Kendall over everything cultural.

    Items are swapped and resampled whole, because their twins and rewordings depend on each other.
    """
    a, b = aligned(a, b)
    chosen = _counted(a)
    found = []
    if chosen.any():
        hard = a.where(chosen), b.where(chosen)
        found.append(accuracy_gap(*hard, HEADLINE, permutations))
        source = hard[0].strings("source")
        for name in np.unique(source):
            first, second = (one.where(source == name) for one in hard)
            found += [accuracy_gap(first, second, str(name), permutations)]
    cultural = a.where(a.cultural), b.where(a.cultural)
    if len(cultural[0]) > 1:
        found.append(_order(*cultural, permutations))
    return [one for one in found if not math.isnan(one.difference)]


def _counted(judged: Judged) -> NDArray[np.bool_]:
    """Hard errors and their twins, of sources that have both: no other source has a part in the mean."""
    source, hard = judged.strings("source"), judged.hard & judged.cultural
    both = np.isin(source, source[hard & judged.is_error]) & np.isin(source, source[hard & ~judged.is_error])
    return np.asarray(hard & both)


def accuracy_gap(a: Judged, b: Judged, name: str, permutations: int = PERMUTATIONS) -> Difference:
    """Scaled accuracy of A less that of B on the same samples in one order: of one source, or the mean over theirs."""
    measure = headline if name == HEADLINE else scaled
    (first, drawn_a), (second, drawn_b) = measure(a), measure(b)  # the same items are drawn for both
    worth = _worth(a)
    groups = a.strings("item_id")
    sums = group_sums(np.stack([a.right * worth, b.right * worth], axis=-1), groups)
    p_value = paired_permutation_test(sums[:, 0], sums[:, 1], permutations)
    gap = first.figure - second.figure
    low, high = interval(drawn_a - drawn_b)
    return Difference("scaled_accuracy", name, len(a), first.figure, second.figure, gap, low, high, p_value)


def _worth(judged: Judged) -> Floats:
    """What one right decision adds to the mean over the sources: rarer classes and smaller sources count more."""
    keys = [f"{source}\0{error}" for source, error in zip(judged.strings("source"), judged.is_error, strict=True)]
    _, place, sizes = np.unique(keys, return_inverse=True, return_counts=True)
    return np.asarray(1 / sizes[place] / np.unique(judged.strings("source")).size)


def _order(a: Judged, b: Judged, permutations: int) -> Difference:
    gold, groups = a.gold_score, a.strings("item_id")
    first, second = (one.score(with_probability=one.run.baseline is None) for one in (a, b))

    def gap(one: Floats, other: Floats) -> float:
        return kendall(gold, one) - kendall(gold, other)

    p_value = swapped(gap, first, second, groups, permutations)
    value = kendall(gold, first), kendall(gold, second)
    return Difference("kendall", "all", len(a), *value, value[0] - value[1], math.nan, math.nan, p_value)


def swapped(
    gap: Callable[[Floats, Floats], float], a: Floats, b: Floats, groups: NDArray[np.str_], n: int, seed: int = 0
) -> float:
    """Two-sided p-value of a gap between two judges' scores, under swapping the scores of whole items at random.

    Scores are swapped as they are: ranks of each judge would untie equal scores, and the gaps by chance come out too
    small. A swap that leaves no gap to measure counts as extreme.
    """
    _, place = np.unique(groups, return_inverse=True)
    observed = abs(gap(a, b)) * (1 - 1e-12)
    rng = np.random.default_rng(seed)
    extreme = 0
    for _ in range(n):
        swap = rng.integers(0, 2, int(place.max()) + 1).astype(bool)[place]
        extreme += not abs(gap(np.where(swap, b, a), np.where(swap, a, b))) < observed
    return (extreme + 1) / (n + 1)
