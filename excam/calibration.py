"""Calibration of P(error): among pairs that get 0.7, seven in ten shall have an error.

A judge's raw probability is a ranking more than a probability. A monotone map fitted on dev mends that and leaves the
ranking as it is: a temperature (one number, for small samples), or isotonic regression (any shape, for large ones).
The threshold that turns probabilities into verdicts is chosen on the same pairs and travels with the map.
"""

from __future__ import annotations

import hashlib
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BaseModel, ConfigDict, Field, FiniteFloat, model_validator

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Method = Literal["temperature", "isotonic"]
Probability = Annotated[float, Field(ge=0, le=1)]

_SMALLEST = 1e-9
_TILT = 1e-3  # how much the outermost stretches rise, so that no two probabilities become one


class Calibration(BaseModel):
    """The map from raw to calibrated P(error), the threshold, and what both were fitted on."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: Method
    temperature: FiniteFloat | None = Field(default=None, gt=0, description="the log-odds are divided by it")
    knots: tuple[tuple[Probability, Probability], ...] | None = Field(
        default=None, description="raw and calibrated probability, both rising; straight lines between"
    )
    ordinary_weight: FiniteFloat = Field(
        default=1.0, ge=1, description="how many times P(not applicable) counts before the map is asked"
    )
    threshold: float = Field(ge=0, le=1, description="calibrated P(error) from which a pair counts as an error")
    max_false_alarms: float | None = Field(default=None, description="the budget the threshold keeps, if one was given")
    pairs: int = Field(ge=0, description="cultural pairs it was fitted on")
    ece_before: float
    ece_after: float = Field(description="on pairs left out of the fit in turn")

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.method == "temperature" and self.temperature is None:
            raise ValueError("calibration by temperature needs a temperature")
        if self.method == "isotonic":
            if not self.knots or len(self.knots) < 2:
                raise ValueError("isotonic calibration needs two knots or more")
            raw, calibrated = np.array(self.knots).T
            if (np.diff(raw) <= 0).any() or (np.diff(calibrated) < 0).any():
                raise ValueError("knots must rise")
        elif self.knots is not None:
            raise ValueError("calibration by temperature has no knots")
        return self

    @property
    def sha256(self) -> str:
        """Of all that decides verdicts, for the judge's version."""
        also = {"ordinary_weight"} if self.ordinary_weight != 1 else set()
        deciding = self.model_dump_json(include={"method", "temperature", "knots", "threshold", *also})
        return hashlib.sha256(deciding.encode()).hexdigest()

    def apply(self, raw: ArrayLike, ordinary: ArrayLike = 0.0) -> Floats:
        """Calibrated probabilities, from the raw P(error) and P(not applicable) of each pair."""
        p = doubted(raw, ordinary, self.ordinary_weight)
        if self.knots is not None:
            return np.asarray(np.interp(p, *np.array(self.knots).T))
        return with_temperature(p, self.temperature or 1.0)

    def __call__(self, raw: float, ordinary: float = 0.0) -> float:
        return float(self.apply(raw, ordinary))


def doubted(raw: ArrayLike, ordinary: ArrayLike, weight: float) -> Floats:
    """P(error) where P(not applicable) counts ``weight`` times: what may well be ordinary is less of an error."""
    return np.asarray(raw, np.float64) / (1 + (weight - 1) * np.asarray(ordinary, np.float64))


def with_temperature(raw: ArrayLike, temperature: float) -> Floats:
    """Probabilities whose log-odds are divided by the temperature."""
    return _sigmoid(_log_odds(raw) / temperature)


def fit_temperature(raw: ArrayLike, error: ArrayLike) -> float:
    """The temperature that makes the labels likeliest. The likelihood has one peak, so its slope is bisected."""
    odds, label = _log_odds(raw), np.asarray(error, np.bool_)

    def slope(inverse: float) -> float:
        return float(np.mean(odds * (label - _sigmoid(odds * inverse))))

    low, high = 1e-3, 1e3
    if slope(low) <= 0:
        return 1 / low
    if slope(high) >= 0:
        return 1 / high
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if slope(middle) > 0 else (low, middle)
    return 2 / (low + high)


def pool_adjacent_violators(values: ArrayLike, weights: ArrayLike | None = None) -> tuple[Floats, NDArray[np.int64]]:
    """The rising sequence nearest to the values (least squares), and where its level stretches begin."""
    y = np.asarray(values, np.float64)
    w = np.ones_like(y) if weights is None else np.asarray(weights, np.float64)
    blocks: list[tuple[float, float, int]] = []
    for start, (value, weight) in enumerate(zip(y.tolist(), w.tolist(), strict=True)):
        level, mass, first = value, weight, start
        while blocks and blocks[-1][0] >= level:
            before, heavy, first = blocks.pop()
            level = (before * heavy + level * mass) / (heavy + mass)
            mass += heavy
        blocks.append((level, mass, first))
    starts = np.array([first for _, _, first in blocks], np.int64)
    sizes = np.diff([*starts, len(y)])
    return np.repeat([level for level, _, _ in blocks], sizes), starts


def fit_isotonic(raw: ArrayLike, error: ArrayLike) -> tuple[tuple[float, float], ...]:
    """Knots through the middle of each level stretch: a line that never ties where a staircase would."""
    distinct, place, counts = np.unique(np.asarray(raw, np.float64), return_inverse=True, return_counts=True)
    rate = np.bincount(place, np.asarray(error, np.float64)) / counts
    fitted, starts = pool_adjacent_violators(rate, counts)
    mass = np.add.reduceat(counts, starts)
    middle = np.add.reduceat(distinct * counts, starts) / mass
    level = _TILT + (1 - 2 * _TILT) * fitted[starts]  # room for the outermost stretches to rise to their ends
    knots = [(0.0, level[0] - _TILT), *zip(middle, level, strict=True), (1.0, level[-1] + _TILT)]
    rounded = [(float(f"{x:.7g}"), float(f"{y:.6g}")) for x, y in knots]
    inner = [knot for knot in rounded[1:-1] if 0 < knot[0] < 1]
    rising = [knot for knot, before in zip(inner, rounded[:1] + inner, strict=False) if knot[0] > before[0]]
    return (rounded[0], *rising, rounded[-1])


def threshold_for_budget(correct: ArrayLike, ordinary: ArrayLike, max_false_alarms: float) -> float:
    """The lowest threshold at which at most this share of pairs without an error counts as one.

    Correct cultural pairs and pairs not about culture must each keep the budget: what share of traffic each has is
    not known here, and so the promise holds for any.
    """
    groups = [np.sort(np.asarray(group, np.float64)) for group in (correct, ordinary)]
    return max(_lowest(group, max_false_alarms) for group in groups if len(group))


def threshold_for_accuracy(probability: ArrayLike, error: ArrayLike) -> float:
    """The threshold with the best balanced accuracy, in the middle between the two pairs it parts."""
    p, label = np.asarray(probability, np.float64), np.asarray(error, np.bool_)
    if label.all() or not label.any():
        return 0.5
    values, place = np.unique(p, return_inverse=True)
    caught = np.cumsum(np.bincount(place, label)[::-1])[::-1] / label.sum()
    alarmed = np.cumsum(np.bincount(place, ~label)[::-1])[::-1] / (~label).sum()
    best = int(np.argmax(caught - alarmed))
    return float((values[best] + values[best - 1]) / 2) if best else float(values[0])


def _lowest(ascending: Floats, share: float) -> float:
    allowed = int(np.floor(share * len(ascending) + 1e-9))
    if allowed >= len(ascending):
        return 0.0
    return min(1.0, float(np.nextafter(ascending[len(ascending) - allowed - 1], 2.0)))


def _log_odds(raw: ArrayLike) -> Floats:
    p = np.clip(np.asarray(raw, np.float64), _SMALLEST, 1 - _SMALLEST)
    return np.asarray(np.log(p / (1 - p)))


def _sigmoid(odds: Floats) -> Floats:
    return np.asarray((1 + np.tanh(odds / 2)) / 2)  # the same, without an overflow far from zero
