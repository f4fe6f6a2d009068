"""Verdicts from the decisions a training run kept: the whole test split on the host that trained, without an engine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from excam.fault import UserError

if TYPE_CHECKING:
    from excam.judge_card import JudgeCard
    from serve.identity import Judge
    from train.figures import Decisions

FIX = "give the dev-decisions.npz or test-decisions.npz of a training run, and the data it was trained on"


def adapter_of(path: Path, card: JudgeCard) -> str | None:
    """The adapter that made the decisions in a file, which must be this judge's; none where the file names none."""
    made_by = _load(path).adapter
    if made_by and made_by != card.adapter_sha256:
        raise UserError(
            f"{path} holds decisions of another adapter than {card.adapter or 'none'}\n"
            f"    theirs {made_by}\n"
            f"    given  {card.adapter_sha256 or 'no adapter'}",
            "name the adapter that the same training run made with --adapter, and its base with --base",
        )
    return made_by or None


def read_decisions(path: Path, split: Path, samples: int) -> Decisions:
    """The decisions in a file on a split of so many samples, each sample at most once and every number known."""
    import numpy as np

    from train.examples import LABELS

    decided = _load(path)
    index, logits = decided.index, decided.logits
    if index.dtype.kind != "i" or index.ndim != 1 or logits.shape != (len(index), len(LABELS)) or not len(index):
        raise UserError(f"{path} holds no decisions: arrays of {index.shape} and {logits.shape}", FIX)
    decided.require_of(split)
    decided.require_finite()
    if len(np.unique(index)) < len(index):
        raise UserError(f"{path} holds two decisions on one sample", FIX)
    if index.min() < 0 or index.max() >= samples:
        reason = f"{path} holds {len(index):,} decisions of a larger split: more decisions than {samples:,} samples"
        raise UserError(reason, f"{FIX}, without --limit or --leave-one-out")
    return decided


def decided_rows(path: Path, split: Path, rows: list[dict[str, Any]], judge: Judge) -> list[dict[str, Any]]:
    """Rows of a split with the verdicts of ``test-decisions.npz`` or ``dev-decisions.npz``, by this judge's threshold.

    The decision is the same forward pass that serves (``excam adapters publish`` checks that); of a clean report only
    the decision's probability is known, and stands for the report's.
    """
    from excam.evaluation.verdicts import decision_only
    from excam.judgement import Judgement
    from excam.report import CORRECT_REPORT, NOT_APPLICABLE_REPORT
    from train.examples import CORRECT, ERROR, NOT_APPLICABLE

    decided = read_decisions(path, split, len(rows))
    if len(decided.index) < len(rows):
        raise UserError(
            f"{path} holds {len(decided.index):,} decisions, the split has {len(rows):,} samples",
            "give the decisions on all of it: test-decisions.npz, or dev-decisions.npz of a run on a GPU",
        )
    raw = decided.probabilities
    p_error = raw[:, ERROR]
    if judge.calibration:
        p_error = judge.calibration.apply(p_error, raw[:, NOT_APPLICABLE])
    found = []
    for index, (calibrated, each) in zip(
        decided.index.tolist(), zip(p_error.tolist(), raw.tolist(), strict=True), strict=True
    ):
        clean = CORRECT_REPORT if each[CORRECT] >= each[NOT_APPLICABLE] else NOT_APPLICABLE_REPORT
        judgement = Judgement.of(clean, calibrated, max(each[CORRECT], each[NOT_APPLICABLE]))
        found.append(rows[index] | decision_only(judgement, judge.threshold))
    return found


def _load(path: Path) -> Decisions:
    from train.examples import UNREADABLE
    from train.figures import Decisions

    try:
        return Decisions.load(path)
    except (*UNREADABLE, TypeError) as problem:
        raise UserError(f"{path} holds no decisions: {problem}", FIX) from problem
