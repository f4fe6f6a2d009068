"""Pairs to calibrate on: the dev split with the judge's raw P(error), asked now or read from an earlier run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from excam.cli.aside import aside
from excam.fault import UserError

if TYPE_CHECKING:
    from serve.settings import JudgeSettings


class Pairs(NamedTuple):
    """What each pair got, what it is, and which pairs belong together."""

    p_error: list[float]
    labels: list[str]
    groups: list[str]
    ordinary: list[float] | None = None


def asked_now(data: Path, limit: int | None, settings: JudgeSettings) -> Pairs:
    """Ask the judge for its decisions on dev, in this process."""
    from excam.evaluation.choose import choose, read_split
    from serve.identity import prepare
    from serve.offline import judge_rows

    rows = choose(read_split(data, "dev"), limit).to_pylist()
    judged: list[dict[str, Any]] = []

    def keep(portion: list[dict[str, Any]]) -> None:
        judged.extend(portion)
        aside(f"{len(judged):,} of {len(rows):,} pairs asked")

    judge_rows(prepare(settings), rows, keep, reports=False)
    return _pairs(judged)


def judged_before(path: Path, data: Path, settings: JudgeSettings) -> Pairs:
    """Read what ``excam evaluate`` or a training run kept, if it is of dev and holds this judge's raw probabilities."""
    if path.suffix == ".npz":
        return _decided_in_training(path, data)
    from excam.evaluation.judged import Judged
    from serve.identity import prepare

    judged = Judged.read(path)
    if judged.run.split != "dev":
        raise UserError(f"{path} is of the {judged.run.split} split", "calibrate on dev, so that test stays unseen")
    raw = settings.model_copy(update={"threshold": judged.run.threshold})
    if judged.run.judge_version != prepare(raw).card.judge_version:
        raise UserError(
            f"{path} was judged by {judged.run.judge_version}, which is not this judge with raw probabilities",
            "give the same --base and --adapter, and evaluate with `calibration: none` in the judge settings",
        )
    return _pairs(judged.table.to_pylist())


def _decided_in_training(path: Path, data: Path) -> Pairs:
    from excam.cli.training_decisions import read_decisions
    from excam.evaluation.choose import read_split
    from train.examples import ERROR, NOT_APPLICABLE

    rows = read_split(data, "dev").to_pylist()
    decided = read_decisions(path, data / "dev.parquet", len(rows))
    p_error, ordinary = decided.probabilities[:, [ERROR, NOT_APPLICABLE]].T.tolist()
    pairs = _pairs([rows[index] | {"p_error": p} for index, p in zip(decided.index.tolist(), p_error, strict=True)])
    return pairs._replace(ordinary=ordinary)


def _pairs(rows: list[dict[str, Any]]) -> Pairs:
    known = [row for row in rows if row.get("p_error") is not None]
    return Pairs(
        [row["p_error"] for row in known],
        [row["label"] for row in known],
        [row["twin_id"] or row["sample_id"] for row in known],
    )
