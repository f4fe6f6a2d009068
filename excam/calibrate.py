"""Fit a judge's calibration on dev pairs, and say honestly what it gained: on pairs the fit did not see."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import yaml
from numpy.typing import ArrayLike
from pydantic import ValidationError

from excam.calibration import (
    Bools,
    Calibration,
    Floats,
    Method,
    doubted,
    fit_isotonic,
    fit_temperature,
    threshold_for_accuracy,
    threshold_for_budget,
)
from excam.evaluation.reliability import expected_calibration_error, reliability
from excam.fault import UserError

ENOUGH_FOR_ISOTONIC = 1000
ORDINARY_WEIGHTS = (1.0, 1.5, 2.0, 3.0, 5.0, 7.5, 10.0, 15.0, 20.0, 30.0, 50.0, 75.0, 100.0)
"""What P(not applicable) may count; beyond the last the judge itself does not know ordinary pairs."""
FOLDS = 5


def calibrate(
    raw: ArrayLike,
    labels: Sequence[str],
    *,
    groups: Sequence[str] | None = None,
    method: str | None = None,
    max_false_alarms: float | None = None,
    ordinary: ArrayLike | None = None,
    max_ordinary_alarms: float | None = None,
) -> Calibration:
    """The calibration of these raw P(error); with ``max_ordinary_alarms`` the one that keeps it by doubting least.

    ``ordinary`` is each pair's raw P(not applicable). Counting it more than once makes errors of few ordinary pairs
    and costs hardly a cultural one, where a higher threshold would cost many.
    """
    if max_ordinary_alarms is None:
        return _calibrate(raw, labels, groups, method, max_false_alarms)
    if ordinary is None:
        raise UserError(
            "what was judged tells no P(not applicable), by which false alarms on ordinary pairs are kept down",
            "give the dev-decisions.npz of a training run with --judged",
        )
    for weight in ORDINARY_WEIGHTS:
        p = doubted(raw, ordinary, weight)
        made = _calibrate(p, labels, groups, method, max_false_alarms)
        if rates(made, p, labels).get("false_alarms_ordinary", 0.0) <= max_ordinary_alarms:
            return made.model_copy(update={"ordinary_weight": weight})
    raise UserError(
        f"even if P(not applicable) counts {ORDINARY_WEIGHTS[-1]:g} times, more than {max_ordinary_alarms:.2%} of the "
        "ordinary pairs are flagged",
        "allow more with --max-ordinary-alarms, or train the judge on such pairs",
    )


def _calibrate(
    raw: ArrayLike,
    labels: Sequence[str],
    groups: Sequence[str] | None,
    method: str | None,
    max_false_alarms: float | None,
) -> Calibration:
    """The calibration of these raw P(error), given each pair's label (``error``, ``correct``, ``not_applicable``).

    It is fitted among cultural pairs; ordinary ones only count where a false-alarm budget is kept. Pairs of one group
    (twins) are left out together when the gain is measured.
    """
    p, label = np.asarray(raw, np.float64), np.asarray(labels)
    cultural, error = label != "not_applicable", label == "error"
    x, y = p[cultural], error[cultural]
    names = np.asarray(groups if groups is not None else np.arange(len(p)).astype(str))[cultural]
    if len(x) < 2 * FOLDS or y.all() or not y.any() or len(np.unique(names)) < FOLDS:
        raise UserError(
            f"{len(x)} cultural pairs with {int(y.sum())} errors cannot calibrate a judge",
            f"give a dev split with both correct and wrong pairs, of {FOLDS} items or more",
        )
    if not ((p >= 0) & (p <= 1)).all():
        raise UserError("a raw P(error) lies outside 0 to 1", "ask the judge anew")
    isotonic = method == "isotonic" if method else len(x) >= ENOUGH_FOR_ISOTONIC
    how: Method = "isotonic" if isotonic else "temperature"
    fitted = _fit(how, x, y)
    calibrated = fitted.apply(x)
    if max_false_alarms is None:
        threshold = threshold_for_accuracy(calibrated, y)
    else:
        without = calibrated[~y], fitted.apply(p[~cultural])
        threshold = threshold_for_budget(*without, max_false_alarms)
        if any((group >= threshold).mean() > max_false_alarms for group in without if len(group)):
            raise UserError(
                f"no threshold keeps to {max_false_alarms:.2%} of false alarms: more pairs without an error than that "
                "have a P(error) of 1",
                "allow more with --max-false-alarms, or train the judge on such pairs",
            )
    return fitted.model_copy(
        update={
            "threshold": threshold,
            "max_false_alarms": max_false_alarms,
            "ece_before": expected_calibration_error(reliability(x, y)),
            "ece_after": expected_calibration_error(reliability(_left_out(how, x, y, names), y)),
        }
    )


def read_calibration(path: Path) -> Calibration:
    """A calibration from the YAML file that ``excam judge calibrate`` wrote."""
    try:
        return Calibration.model_validate(yaml.safe_load(path.read_text("utf-8")))
    except (OSError, UnicodeDecodeError, yaml.YAMLError, ValidationError) as problem:
        raise UserError(f"{path} is no calibration: {problem}", "make it with `excam judge calibrate`") from problem


def write_calibration(calibration: Calibration, path: Path) -> None:
    """Keep a calibration as YAML."""
    path.write_text(yaml.safe_dump(calibration.model_dump(mode="json", exclude_none=True), sort_keys=False), "utf-8")


def rates(
    calibration: Calibration, raw: ArrayLike, labels: Sequence[str], ordinary: ArrayLike = 0.0
) -> dict[str, float]:
    """What the threshold does on these pairs: errors found, and false alarms by kind of pair."""
    flagged, label = calibration.apply(raw, ordinary) >= calibration.threshold, np.asarray(labels)
    kinds = {"errors_found": "error", "false_alarms": "correct", "false_alarms_ordinary": "not_applicable"}
    return {name: float(flagged[label == kind].mean()) for name, kind in kinds.items() if (label == kind).any()}


def _fit(how: Method, x: Floats, y: Bools) -> Calibration:
    return Calibration(
        method=how,
        temperature=float(f"{fit_temperature(x, y):.6g}") if how == "temperature" else None,
        knots=fit_isotonic(x, y) if how == "isotonic" else None,
        threshold=0.5,
        pairs=len(x),
        ece_before=0.0,
        ece_after=0.0,
    )


def _left_out(how: Method, x: Floats, y: Bools, names: ArrayLike) -> Floats:
    """Each pair's probability by a map fitted without its fold."""
    _, number = np.unique(np.asarray(names), return_inverse=True)
    fold = np.random.default_rng(0).permutation(int(number.max()) + 1)[number] % FOLDS
    found = np.empty_like(x)
    for part in range(FOLDS):
        out = fold == part
        found[out] = _fit(how, x[~out], y[~out]).apply(x[out])
    return found
