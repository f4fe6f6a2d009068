"""Intervals by resampling items: the rewordings and twins of one item stand or fall together, so it is drawn whole."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from excam.stats import wilson

DRAWS = 1000
_CHUNK = 2_000_000  # numbers drawn at once, which bounds memory

Floats = NDArray[np.float64]


def group_sums(rows: Floats, groups: Sequence[str] | NDArray[np.str_]) -> Floats:
    """Rows added up by group: the resampling unit."""
    names, place = np.unique(np.asarray(groups, dtype=str), return_inverse=True)
    sums = np.zeros((names.size, rows.shape[1]))
    np.add.at(sums, place, rows)
    return sums


def resampled_sums(sums: Floats, draws: int = DRAWS, seed: int = 0) -> Floats:
    """``draws`` times the total of as many groups as there are, drawn with replacement."""
    totals = [times @ sums for times in _times(len(sums), draws, seed)]
    return np.concatenate(totals) if totals else np.zeros((0, sums.shape[1]))


def resampled_weights(
    groups: Sequence[str] | NDArray[np.str_], strata: Sequence[str] | NDArray[np.str_], draws: int, seed: int = 0
) -> Iterator[Floats]:
    """For each draw how often every sample counts; groups are drawn within their stratum, whose size so stays."""
    names = np.asarray(groups, dtype=str)
    kinds = np.asarray(strata, dtype=str)
    members = [np.flatnonzero(kinds == kind) for kind in np.unique(kinds)]
    places = [np.unique(names[member], return_inverse=True)[1] for member in members]
    rng = np.random.default_rng(seed)
    for _ in range(draws):
        weight = np.zeros(names.size)
        for member, place in zip(members, places, strict=True):
            count = int(place.max()) + 1
            weight[member] = np.bincount(rng.integers(0, count, count), minlength=count)[place]
        yield weight


def interval(values: ArrayLike, confidence: float = 0.95) -> tuple[float, float]:
    """The percentile interval of resampled values; draws that left the figure undefined are passed over."""
    found = np.asarray(values, dtype=np.float64)
    found = found[np.isfinite(found)]
    if found.size == 0:
        return float("nan"), float("nan")
    low, high = np.quantile(found, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(low), float(high)


def rate_by_items(of: Floats, hits: Floats) -> tuple[float, float, float]:
    """A share with Wilson's interval on the number of items, for where every draw is alike and tells nothing."""
    items, rate = int((of > 0).sum()), float(hits.sum() / of.sum())
    return rate, *wilson(rate * items, items)


def ends_of_sum(figure: float, parts: Sequence[tuple[float, float, float]]) -> tuple[float, float]:
    """The interval of a sum of independent parts, of which each brings its own (Newcombe, 1998)."""
    below = math.hypot(*(value - low for value, low, _ in parts))
    above = math.hypot(*(high - value for value, _, high in parts))
    return max(-1.0, figure - below), min(1.0, figure + above)


def _times(groups: int, draws: int, seed: int) -> Iterator[Floats]:
    """How often each group was drawn, a bounded number of draws at once."""
    rng = np.random.default_rng(seed)
    step = max(1, _CHUNK // max(1, groups))
    for start in range(0, draws, step):
        count = min(step, draws - start)
        drawn = rng.integers(0, groups, (count, groups)) + groups * np.arange(count)[:, None]
        yield np.bincount(drawn.ravel(), minlength=count * groups).reshape(count, groups).astype(np.float64)
