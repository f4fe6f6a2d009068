"""How sure one can be of a rate or of a difference; numpy only, so that querying a store needs no scipy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

_FEWEST_EXPECTED = 10  # expected counts from which the normal approximation is good enough
_MOST_EXACT = 1000  # items that differ up to which McNemar's test is made exactly
_CHUNK = 4_000_000  # random numbers drawn at once, which bounds memory


def wilson(errors: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson score interval of the rate errors/n.

    It stays inside [0, 1] and is honest for rates near zero, which is where error rates live and where the textbook
    interval claims certainty. With n = 0 nothing is known: (0, 1).
    """
    if not 0 <= errors <= n:
        raise ValueError(f"errors must lie between 0 and n, got {errors} of {n}")
    if n == 0:
        return 0.0, 1.0
    z2 = NormalDist().inv_cdf((1 + confidence) / 2) ** 2
    rate = errors / n
    centre = rate + z2 / (2 * n)
    spread = math.sqrt(z2 * (rate * (1 - rate) + z2 / (4 * n)) / n)
    low, high = (centre - spread) / (1 + z2 / n), (centre + spread) / (1 + z2 / n)
    return (0.0 if errors == 0 else max(0.0, low)), (1.0 if errors == n else min(1.0, high))


def effective_size(weight: float, squared_weight: float) -> float:
    """Kish's effective sample size (Σw)²/Σw²: how many equally weighted pairs tell as much as these."""
    return weight * weight / squared_weight if squared_weight > 0 else 0.0


def weighted_wilson(
    errors: float, weight: float, squared_weight: float, confidence: float = 0.95
) -> tuple[float, float]:
    """Wilson interval of a rate estimated from sampled traffic.

    A pair kept with probability s stands for 1/s pairs, so it weighs w = 1/s. Given Σ w·error, Σ w and Σ w² (sums a
    query makes), the rate is Σ w·error / Σ w, and the interval is that of as many pairs as the weights are worth:
    equal weights give exactly ``wilson`` of the pairs judged, unequal ones widen it.
    """
    n = effective_size(weight, squared_weight)
    return wilson(min(n, errors / weight * n) if weight > 0 else 0.0, n, confidence)


def rate_difference_test(e1: float, n1: float, e2: float, n2: float) -> float:
    """Two-sided p-value for the two rates e1/n1 and e2/n2 being the same.

    Fisher's exact test where an expected count is below ten, the pooled z-test above, where both agree and only the
    latter is cheap. Fractional counts (effective sizes) are rounded for the exact test.
    """
    for errors, n in ((e1, n1), (e2, n2)):
        if not 0 <= errors <= n:
            raise ValueError(f"errors must lie between 0 and n, got {errors} of {n}")
    errors, n = e1 + e2, n1 + n2
    if n1 == 0 or n2 == 0 or errors == 0 or errors == n:
        return 1.0
    if min(n1, n2) * min(errors, n - errors) / n < _FEWEST_EXPECTED:
        return _fisher(round(e1), round(n1), round(e2), round(n2))
    rate = errors / n
    z = (e1 / n1 - e2 / n2) / math.sqrt(rate * (1 - rate) * (1 / n1 + 1 / n2))
    return math.erfc(abs(z) / math.sqrt(2))


def _fisher(e1: int, n1: int, e2: int, n2: int) -> float:
    """Sum of the probabilities of all tables with these margins that are no likelier than the observed one."""
    errors = e1 + e2
    first, last = max(0, errors - n2), min(n1, errors)

    def log_weight(k: int) -> float:
        return _log_choose(n1, k) + _log_choose(n2, errors - k)

    weights = np.array([log_weight(k) for k in range(first, last + 1)])
    weights = np.exp(weights - weights.max())
    observed = weights[e1 - first]
    return min(1.0, float(weights[weights <= observed * (1 + 1e-7)].sum() / weights.sum()))


def _log_choose(n: int, k: int) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def paired_rates_test(only_a: float, only_b: float) -> float:
    """McNemar's test: two-sided p-value for two rates measured on the same items being the same.

    Only items on which the two differ tell anything: under the null either may hold the error as likely. Exact up to a
    thousand of them, normal with a continuity correction above, where both agree; effective sizes are rounded.
    """
    n = only_a + only_b
    if n > _MOST_EXACT:
        return math.erfc(max(0.0, abs(only_a - only_b) - 1) / math.sqrt(2 * n))
    differ, fewer = round(n), math.floor(min(only_a, only_b) + 0.5)
    tail = math.fsum(math.exp(_log_choose(differ, k) - differ * math.log(2)) for k in range(fewer + 1))
    return min(1.0, 2 * tail)


def paired_difference(both: float, only_a: float, only_b: float, neither: float) -> tuple[float, float, float]:
    """Rate of B less rate of A on the same items, with its 95 % interval: (difference, low, high).

    Newcombe's (1998, method 10): the two Wilson intervals and the correlation of the two sides. It stays honest where
    they never differ and the textbook interval is [0, 0].
    """
    n = both + only_a + only_b + neither
    a, b = min(n, both + only_a), min(n, both + only_b)
    (a_low, a_high), (b_low, b_high) = wilson(a, n), wilson(b, n)
    p, q = a / n, b / n
    product = both * neither - only_a * only_b
    spread = math.sqrt(a * (n - a) * b * (n - b))
    phi = (max(0.0, product - n / 2) if product > 0 else product) / spread if spread > 0 else 0.0
    down = (q - b_low) ** 2 - 2 * phi * (q - b_low) * (a_high - p) + (a_high - p) ** 2
    up = (b_high - q) ** 2 - 2 * phi * (b_high - q) * (p - a_low) + (p - a_low) ** 2
    return q - p, q - p - math.sqrt(max(0.0, down)), q - p + math.sqrt(max(0.0, up))


def paired_permutation_test(a: ArrayLike, b: ArrayLike, n: int = 1000, seed: int = 0) -> float:
    """Two-sided p-value for two systems scored on the same items having the same mean.

    Under the null a pair's scores may be swapped, which flips the sign of its difference. All 2^m flips are tried when
    there are at most n of them, else n random ones, the observed one counted along so that p is never zero.
    """
    first, second = _sample(a), _sample(b)
    if first.shape != second.shape:
        raise ValueError(f"paired samples must be of one length, got {first.size} and {second.size}")
    differences = first - second
    differences = differences[differences != 0]
    if differences.size == 0:
        return 1.0
    threshold = abs(differences.sum()) * (1 - 1e-12)
    if differences.size < 63 and 2**differences.size <= n:
        codes = np.arange(2**differences.size)[:, None] >> np.arange(differences.size) & 1
        return float(np.mean(np.abs((1 - 2 * codes) @ differences) >= threshold))
    rng = np.random.default_rng(seed)
    extreme = 0
    for count in _chunks(n, differences.size):
        signs = rng.integers(0, 2, (count, differences.size), dtype=np.int8)
        extreme += int(np.sum(np.abs((1 - 2 * signs) @ differences) >= threshold))
    return (extreme + 1) / (n + 1)


def bootstrap_difference(
    a: ArrayLike,
    b: ArrayLike,
    n: int = 2000,
    seed: int = 0,
    confidence: float = 0.95,
    paired: bool = False,
) -> tuple[float, float, float]:
    """mean(a) - mean(b) with its percentile bootstrap interval: (difference, low, high).

    The samples are drawn anew independently of each other; ``paired`` draws the same items from both, which is right
    for two systems on one test set.
    """
    first, second = _sample(a), _sample(b)
    if paired and first.shape != second.shape:
        raise ValueError(f"paired samples must be of one length, got {first.size} and {second.size}")
    rng = np.random.default_rng(seed)
    if paired:
        draws = _resampled_means(first - second, n, rng)
    else:
        draws = _resampled_means(first, n, rng) - _resampled_means(second, n, rng)
    low, high = np.quantile(draws, [(1 - confidence) / 2, (1 + confidence) / 2])
    return float(first.mean() - second.mean()), float(low), float(high)


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values, in the order given: what remains of each after looking at all of them."""
    total = len(p_values)
    adjusted = [0.0] * total
    highest = 0.0
    for rank, index in enumerate(sorted(range(total), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (total - rank) * p_values[index]))
        adjusted[index] = highest
    return adjusted


def _sample(values: ArrayLike) -> NDArray[np.float64]:
    sample = np.asarray(values, dtype=np.float64).ravel()
    if sample.size == 0 or not np.isfinite(sample).all():
        raise ValueError("a sample must hold at least one value, and finite ones only")
    return sample


def _resampled_means(sample: NDArray[np.float64], n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    means = [
        sample[rng.integers(0, sample.size, (count, sample.size))].mean(axis=1) for count in _chunks(n, sample.size)
    ]
    return np.concatenate(means)


def _chunks(n: int, width: int) -> Iterator[int]:
    """Split n draws of this width so that none needs too much memory at once."""
    step = max(1, _CHUNK // width)
    for start in range(0, n, step):
        yield min(step, n - start)
