"""Verdicts from the decisions a training run kept: the whole test split on the host that trained, without an engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.fault import UserError

if TYPE_CHECKING:
    from serve.identity import Judge


def decided_rows(path: Path, rows: list[dict[str, Any]], judge: Judge) -> list[dict[str, Any]]:
    """Rows of a split with the verdicts of ``test-decisions.npz`` or ``dev-decisions.npz``, by this judge's threshold.

    The decision is the same forward pass that serves (``excam adapters publish`` checks that); of a clean report only
    the decision's probability is known, and stands for the report's.
    """
    from excam.evaluation.verdicts import decision_only
    from excam.judgement import Judgement
    from excam.report import CORRECT_REPORT, NOT_APPLICABLE_REPORT
    from train.examples import CORRECT, ERROR, NOT_APPLICABLE
    from train.figures import Decisions

    try:
        decided = Decisions.load(path)
    except (OSError, ValueError, KeyError) as problem:
        raise UserError(
            f"{path} holds no decisions: {problem}", "give the decisions file of a training run"
        ) from problem
    if sorted(decided.index.tolist()) != list(range(len(rows))):
        raise UserError(
            f"{path} holds {len(decided.index):,} decisions, the split has {len(rows):,} samples",
            "give the data the run was evaluated on, whole: without --limit or --leave-one-out",
        )
    raw = decided.probabilities
    p_error = judge.calibration.apply(raw[:, ERROR]) if judge.calibration else raw[:, ERROR]
    found = []
    for index, (calibrated, each) in zip(
        decided.index.tolist(), zip(p_error.tolist(), raw.tolist(), strict=True), strict=True
    ):
        clean = CORRECT_REPORT if each[CORRECT] >= each[NOT_APPLICABLE] else NOT_APPLICABLE_REPORT
        judgement = Judgement.of(clean, calibrated, max(each[CORRECT], each[NOT_APPLICABLE]))
        found.append(rows[index] | decision_only(judgement, judge.threshold))
    return found
