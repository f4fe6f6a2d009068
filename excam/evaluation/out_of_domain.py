"""The paper's Figure 3 as a table: each source judged by an adapter that was trained without it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from excam.evaluation.compare import Difference, accuracy_gap, aligned
from excam.evaluation.figures import Figure, headline, scaled
from excam.evaluation.judged import Judged
from excam.fault import UserError
from excam.stats import holm

SURE = 0.05


@dataclass(frozen=True)
class OutOfDomain:
    """One column of the figure: a source, the judge that never saw it, and the gap to each judge it is held against."""

    source: str
    figure: Figure
    against: tuple[Figure | None, ...]
    p_values: tuple[float, ...]

    @property
    def above_all(self) -> bool:
        """Whether it is better than every judge it is held against, beyond chance."""
        better = [one is not None and self.figure.figure > one.figure for one in self.against]
        return bool(better) and all(better) and max(self.p_values) < SURE


def left_out_source(judged: Judged) -> str:
    if judged.run.left_out is None:
        raise UserError(
            f"the run of {judged.run.judge} does not say which source its adapter was trained without",
            "judge it with `excam evaluate --leave-one-out SOURCE`",
        )
    return judged.run.left_out


def out_of_domain(runs: Sequence[Judged], against: Sequence[Judged] = ()) -> list[OutOfDomain]:
    """A column for each run; ``against`` are other judges, such as untuned bases, judged on the same split."""
    columns = []
    for run in runs:
        source = left_out_source(run)
        here = run.where((run.strings("source") == source) & run.cultural)
        gaps = [_gap(here, other, source) for other in against]
        p_values = holm([gap.p_value if gap else 1.0 for gap in gaps])
        figures = tuple(_of(other, source) for other in against)
        columns.append(OutOfDomain(source, scaled(here.where(_counted(here)))[0], figures, tuple(p_values)))
    return sorted(columns, key=lambda column: column.source)


def _counted(judged: Judged) -> NDArray[np.bool_]:
    """Hard errors and their twins where the source has any; CaLMQA and the like have soft errors only."""
    return judged.hard if judged.hard.any() else judged.cultural


def _of(judged: Judged, source: str) -> Figure | None:
    here = judged.where((judged.strings("source") == source) & judged.cultural)
    return scaled(here.where(_counted(here)))[0] if len(here) else None


def _gap(here: Judged, other: Judged, source: str) -> Difference | None:
    there = other.where((other.strings("source") == source) & other.cultural)
    if not len(there):
        return None
    here, there = aligned(here, there)
    counted = _counted(here)
    gap = accuracy_gap(here.where(counted), there.where(counted), source)
    return None if math.isnan(gap.difference) else gap


def average(columns: Sequence[OutOfDomain]) -> float:
    """AVG (OOD): the mean of the columns."""
    return float(np.mean([column.figure.figure for column in columns])) if columns else math.nan


def in_domain(judged: Judged) -> Figure:
    """ALL (ID): the judge trained on everything, mean over the sources on hard errors."""
    return headline(judged.where(judged.hard & judged.cultural))[0]
