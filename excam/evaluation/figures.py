"""Every figure of one judged table by name, each with its n and its 95 % interval."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from excam.evaluation.accuracy import class_counts, kendall, scaled_accuracy
from excam.evaluation.explanations import explained
from excam.evaluation.judged import Judged
from excam.evaluation.reliability import Bin, expected_calibration_error, reliability
from excam.evaluation.resample import (
    DRAWS,
    ends_of_sum,
    group_sums,
    interval,
    rate_by_items,
    resampled_sums,
    resampled_weights,
)
from excam.evaluation.ties import MOST_PAIRS, resampled_accuracy, right_pairs, tie_calibrated

ORDER_DRAWS = 200  # for Kendall and tie-calibrated accuracy, which look at pairs of samples
HEADLINE = "mean of sources"
Mask = NDArray[np.bool_]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Figure:
    """One number: what it measures, on which part of the data (``by`` a column, of one ``value``), how sure it is."""

    measure: str
    part: str
    by: str
    value: str
    n: int
    figure: float
    low: float = math.nan
    high: float = math.nan


@dataclass(frozen=True)
class Summary:
    """All that a report is made of."""

    figures: list[Figure]
    bins: list[Bin]

    def find(self, measure: str, part: str = "hard", by: str = "all", value: str = "") -> Figure | None:
        """The one figure of that name, or None where the data has none."""
        wanted = (measure, part, by, value)
        return next((one for one in self.figures if (one.measure, one.part, one.by, one.value) == wanted), None)

    def over(self, measure: str, by: str, part: str = "hard") -> list[Figure]:
        """The figures of one measure, one for each value of a column."""
        return [one for one in self.figures if (one.measure, one.part, one.by) == (measure, part, by)]


def summarise(judged: Judged, most_pairs: int = MOST_PAIRS, draws: int = DRAWS) -> Summary:
    """All figures of a judged table, on hard errors and their twins, on soft ones and theirs, and on all of them."""
    found = [*_decisions(judged, draws), *_order(judged, most_pairs, min(draws, ORDER_DRAWS))]
    found += [*_ordinary(judged, draws), *_answers(judged, draws), *_explanations(judged, draws)]
    cultural = judged.where(judged.cultural & ~np.isnan(judged.numbers("p_error")))
    bins = reliability(cultural.numbers("p_error"), cultural.is_error)
    if bins:
        found += _calibration(cultural, bins)
    return Summary([one for one in found if one.n], bins)


def parts_of(judged: Judged) -> dict[str, Mask]:
    """The parts of the cultural pairs, by the kind of their errors."""
    hard = judged.hard & judged.cultural
    return {"hard": hard, "soft": judged.cultural & ~hard, "all": judged.cultural}


def scaled(judged: Judged, right: Mask | None = None, draws: int = DRAWS, seed: int = 0) -> tuple[Figure, Floats]:
    """Scaled accuracy of a table with its interval, and the resampled values, from which other figures are made."""
    counts = class_counts(judged.is_error, judged.right if right is None else right)
    sums = group_sums(counts, judged.strings("item_id"))
    values = scaled_accuracy(resampled_sums(sums, draws, seed))
    figure = float(scaled_accuracy(counts.sum(0)))
    low, high = interval(values)
    if low == high:
        low, high = ends_of_sum(figure, [rate_by_items(sums[:, of], sums[:, right]) for of, right in ((0, 1), (2, 3))])
    return Figure("scaled_accuracy", "", "all", "", len(judged), figure, low, high), values


def headline(judged: Judged, right: Mask | None = None, draws: int = DRAWS) -> tuple[Figure, Floats]:
    """The mean over the sources, each counted alike; sources are resampled independently of each other."""
    source = judged.strings("source")
    found, values = [], []
    for seed, name in enumerate(np.unique(source)):
        here = source == name
        one, resampled = scaled(judged.where(here), None if right is None else right[here], draws, seed)
        if not math.isnan(one.figure):
            found.append(one)
            values.append(resampled)
    if not found:
        return Figure("scaled_accuracy", "", "all", HEADLINE, 0, math.nan), np.zeros(0)
    drawn, figure = np.mean(values, axis=0), float(np.mean([one.figure for one in found]))
    n, (low, high) = sum(one.n for one in found), interval(drawn)
    if low == high:
        parts = np.array([(one.figure, one.low, one.high) for one in found]) / len(found)
        low, high = ends_of_sum(figure, parts.tolist())
    return Figure("scaled_accuracy", "", "all", HEADLINE, n, figure, low, high), drawn


def share(measure: str, part: str, hit: Mask, groups: NDArray[np.str_], draws: int = DRAWS) -> Figure:
    """The share of samples with a property; where every draw is alike, Wilson's interval on the number of items."""
    if hit.size == 0:
        return Figure(measure, part, "all", "", 0, math.nan)
    sums = group_sums(np.stack([hit, np.ones(hit.size)], axis=-1).astype(np.float64), groups)
    rate, *ends = rate_by_items(sums[:, 1], sums[:, 0])
    if 0 < rate < 1:
        totals = resampled_sums(sums, draws)
        low, high = interval(totals[:, 0] / totals[:, 1])
        ends = [low, high] if low < high else ends
    return Figure(measure, part, "all", "", hit.size, rate, *ends)


def _decisions(judged: Judged, draws: int) -> Iterator[Figure]:
    for part, mask in parts_of(judged).items():
        here = judged.where(mask)
        yield replace(headline(here, draws=draws)[0], part=part)
        yield replace(scaled(here, draws=draws)[0], part=part)
        error, groups = here.is_error, here.strings("item_id")
        yield share("errors_found", part, here.right[error], groups[error], draws)
        yield share("correct_let_be", part, here.right[~error], groups[~error], draws)
        passes = here.strings("passes_gate") != "False"
        yield replace(headline(here, _gated(here, passes), draws)[0], part=part, measure="scaled_accuracy_with_gate")
        for by in ("source", "language", "country"):
            column = here.strings(by)
            for value in np.unique(column):
                one = scaled(here.where(column == value), draws=draws)[0]
                if not math.isnan(one.figure):
                    yield replace(one, part=part, by=by, value=str(value))


def _gated(judged: Judged, passes: Mask) -> Mask:
    """Whether the whole system is right: what the gate stops counts as without an error."""
    return np.where(passes, judged.right, ~judged.is_error)


def _order(judged: Judged, most_pairs: int, draws: int) -> Iterator[Figure]:
    plain = judged.run.baseline is not None
    for part, mask in parts_of(judged).items():
        here = judged.where(mask)
        if len(here) < 2:
            continue
        gold = here.gold_score
        scores = {"": here.score(with_probability=not plain)}
        if plain:
            scores["_with_p"] = here.score()
        weights = list(resampled_weights(here.strings("item_id"), here.strings("source"), draws))
        for name, score in scores.items():
            drawn = [kendall(gold, score, weight) for weight in weights]
            yield Figure(f"kendall{name}", part, "all", "", len(here), kendall(gold, score), *interval(drawn))
            best = tie_calibrated(gold, score, most_pairs)
            first, second, right = right_pairs(gold, score, best.epsilon, most_pairs)
            drawn = [resampled_accuracy(right, first, second, weight) for weight in weights]
            yield Figure(f"tie_accuracy{name}", part, "all", "", len(here), best.accuracy, *interval(drawn))
            yield Figure(f"tie_epsilon{name}", part, "all", "", best.pairs, best.epsilon)
        source = here.strings("source")
        for value in np.unique(source):
            mine = source == value
            score, n = scores[""][mine], int(mine.sum())
            yield Figure("kendall", part, "source", str(value), n, kendall(gold[mine], score))
            accuracy = tie_calibrated(gold[mine], score, most_pairs).accuracy
            yield Figure("tie_accuracy", part, "source", str(value), n, accuracy)


def _calibration(cultural: Judged, bins: list[Bin]) -> Iterator[Figure]:
    p_error = cultural.numbers("p_error")
    yield Figure("ece", "all", "all", "", len(cultural), expected_calibration_error(bins))
    sure = np.where(cultural.says_error, p_error, 1 - p_error)
    decided = reliability(sure, cultural.right)
    yield Figure("ece_of_decisions", "all", "all", "", len(cultural), expected_calibration_error(decided))


def _ordinary(judged: Judged, draws: int) -> Iterator[Figure]:
    here = judged.where(~judged.cultural)
    groups, source = here.strings("item_id"), here.strings("source")
    alarm, passes = here.says_error, here.strings("passes_gate") != "False"
    for measure, hit in (
        ("false_alarms", alarm),
        ("false_alarms_with_gate", alarm & passes),
        ("ordinary_pass_gate", passes),
    ):
        yield share(measure, "ordinary", hit, groups, draws)
        for value in np.unique(source):
            mine = source == value
            one = share(measure, "ordinary", hit[mine], groups[mine], draws)
            yield replace(one, by="source", value=str(value))
    passed = judged.where(judged.cultural)
    stopped = passed.strings("passes_gate") == "False"
    yield share("cultural_stopped_by_gate", "all", stopped, passed.strings("item_id"), draws)


def _answers(judged: Judged, draws: int) -> Iterator[Figure]:
    """How the judge answered at all: what could not be read, was written under a grammar, or was cut."""
    groups = judged.strings("item_id")
    yield share("parse_failures", "every pair", judged.failed, groups, draws)
    for measure in ("guided", "truncated"):
        yield share(measure, "every pair", judged.strings(measure) == "True", groups, draws)


def _explanations(judged: Judged, draws: int) -> Iterator[Figure]:
    if not judged.run.reports or judged.run.baseline:
        return
    rows = explained(judged.table.to_pylist())
    groups = np.array([one.item_id for one in rows], dtype=str)
    found = np.array([one.found for one in rows], dtype=bool)
    yield share("reports_of_errors", "hard", found, groups, draws)
    for measure in ("names_right_answer", "span_located", "span_is_gold", "span_overlaps"):
        hit = np.array([bool(getattr(one, measure)) for one in rows if one.found], dtype=bool)
        yield share(measure, "hard", hit, groups[found], draws)
