"""``excam judge calibrate`` on decisions a training run kept: no engine, real files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner

from excam.calibrate import rates, read_calibration
from excam.cli.judge import judge
from excam.dataset.sample import SCHEMA
from excam.fault import UserError
from excam.models.digest import file_sha256
from train.figures import Decisions

LABELS = ("correct", "error", "not_applicable")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rows: list[dict[str, Any]] = [
        dict.fromkeys(SCHEMA.names, "x")
        | {"sample_id": str(number), "label": LABELS[number % 3], "twin_id": None, "weight": 1.0}
        for number in range(1500)
    ]
    table = pa.table({name: [row[name] for row in rows] for name in SCHEMA.names}).cast(SCHEMA)
    pq.write_table(table, tmp_path / "dev.parquet")
    return tmp_path


def decisions(path: Path, count: int = 1500, dataset: str = "") -> tuple[np.ndarray[Any, Any], list[str]]:
    random = np.random.default_rng(0)
    label = np.arange(count) % 3
    logits = random.normal(0, 1, (count, 3)).astype(np.float32)
    logits[np.arange(count), label] += 1
    logits *= 3  # three times as sure as it may be
    order = random.permutation(count)
    found = Decisions(order, logits[order], dataset)
    found.save(path)
    return found.probabilities[:, 1], [LABELS[number % 3] for number in order.tolist()]


def calibrate(data: Path, judged: Path, *more: str) -> Any:
    given = ["calibrate", "--data", str(data), "--judged", str(judged), "--out", str(data / "new" / "c.yaml"), *more]
    return CliRunner().invoke(judge, given)


def test_decisions_of_a_training_run_give_a_calibration_that_keeps_its_budget(data: Path) -> None:
    raw, labels = decisions(data / "dev-decisions.npz", dataset=file_sha256(data / "dev.parquet"))
    answer = calibrate(data, data / "dev-decisions.npz", "--max-false-alarms", "0.02")
    assert answer.exit_code == 0, answer.output
    made = read_calibration(data / "new" / "c.yaml")
    assert (made.method, made.pairs, made.max_false_alarms) == ("isotonic", 1000, 0.02)
    assert made.ece_after < made.ece_before
    assert rates(made, raw, labels)["false_alarms"] <= 0.02
    assert "ECE" in answer.output
    assert "before" in answer.output


def test_a_budget_for_ordinary_pairs_is_kept_by_doubt(data: Path) -> None:
    decisions(data / "dev-decisions.npz")
    answer = calibrate(data, data / "dev-decisions.npz", "--max-ordinary-alarms", "0.15")
    assert answer.exit_code == 0, answer.output
    made = read_calibration(data / "new" / "c.yaml")
    assert f"P(not applicable) counts {made.ordinary_weight:g} times" in answer.output
    found = Decisions.load(data / "dev-decisions.npz")
    labels = [LABELS[number % 3] for number in found.index.tolist()]
    share = rates(made, found.probabilities[:, 1], labels, found.probabilities[:, 2])
    assert share["false_alarms_ordinary"] <= 0.15


def test_decisions_on_other_data_are_refused(data: Path) -> None:
    decisions(data / "dev-decisions.npz", 1503)
    fault = calibrate(data, data / "dev-decisions.npz").exception
    assert isinstance(fault, UserError)
    assert "more decisions" in fault.message
    decisions(data / "dev-decisions.npz", dataset="hash of another file with as many pairs")
    fault = calibrate(data, data / "dev-decisions.npz").exception
    assert isinstance(fault, UserError)
    assert "decisions on other data" in fault.message


@pytest.mark.parametrize("name", ["none.npz", "none.parquet"])
def test_a_file_that_holds_no_decisions_is_a_fault(data: Path, name: str) -> None:
    (data / name).write_bytes(b"nothing")
    assert isinstance(calibrate(data, data / name).exception, UserError)


def test_a_calibration_file_of_another_form_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "c.yaml").write_text("threshold: 2")
    with pytest.raises(UserError, match="no calibration"):
        read_calibration(tmp_path / "c.yaml")
