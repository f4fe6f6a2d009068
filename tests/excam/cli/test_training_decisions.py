"""What stands in a file of decisions is looked at before a figure is made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from excam.cli.training_decisions import adapter_of, read_decisions
from excam.fault import UserError
from excam.judge_card import JudgeCard
from train.figures import Decisions

SPLIT = Path("dev.parquet")  # looked at only where the decisions name theirs
ORDER = np.arange(4)[::-1]
LOGITS = np.array([[1, 2, 3]] * 4, np.float32)


def test_decisions_on_a_part_of_a_split_are_read_as_they_were_kept(tmp_path: Path) -> None:
    Decisions(ORDER, LOGITS).save(tmp_path / "kept.npz")
    found = read_decisions(tmp_path / "kept.npz", SPLIT, 9)
    assert found.index.tolist() == [3, 2, 1, 0]
    assert (found.logits == LOGITS).all()


def test_decisions_are_those_of_the_adapter_they_name(tmp_path: Path) -> None:
    card = JudgeCard(
        base="b", base_sha256="0", adapter="ours@1.0.0", adapter_sha256="a" * 64, prompt_sha256="0", decoding={}
    )
    for name in ("", "a" * 64, "b" * 64):
        Decisions(ORDER, LOGITS, adapter=name).save(tmp_path / f"{name[:1]}.npz")
    np.savez(tmp_path / "older.npz", index=ORDER, logits=LOGITS)
    assert adapter_of(tmp_path / "a.npz", card) == "a" * 64
    assert adapter_of(tmp_path / ".npz", card) is None
    assert adapter_of(tmp_path / "older.npz", card) is None
    with pytest.raises(UserError, match=r"b\.npz holds decisions of another adapter than ours@1\.0\.0"):
        adapter_of(tmp_path / "b.npz", card)


@pytest.mark.parametrize("kept", [2, 60, 0.5, -3], ids=["its name", "its head", "half", "all but its end"])
def test_a_file_that_was_cut_off_holds_no_decisions(tmp_path: Path, kept: float) -> None:
    path = tmp_path / "cut.npz"
    Decisions(ORDER, LOGITS).save(path)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(len(whole) * kept) if isinstance(kept, float) else kept])
    with pytest.raises(UserError, match="holds no decisions"):
        read_decisions(path, SPLIT, 4)


def test_a_damaged_file_and_a_bare_array_hold_no_decisions(tmp_path: Path) -> None:
    path = tmp_path / "kept.npz"
    Decisions(ORDER, LOGITS).save(path)
    damaged = bytearray(path.read_bytes())
    damaged[60] ^= 0xFF
    path.write_bytes(damaged)
    np.save(tmp_path / "bare.npy", LOGITS)
    for one in (path, tmp_path / "bare.npy", tmp_path):
        with pytest.raises(UserError, match="holds no decisions"):
            read_decisions(one, SPLIT, 4)


@pytest.mark.parametrize(
    ("index", "logits", "message"),
    [
        (ORDER, LOGITS[:3], "holds no decisions"),
        (ORDER, LOGITS[:, :2], "holds no decisions"),
        (ORDER[:0], LOGITS[:0], "holds no decisions"),
        (ORDER.astype(float), LOGITS, "holds no decisions"),
        (ORDER, np.full_like(LOGITS, np.nan), "no numbers"),
        (ORDER * 0, LOGITS, "two decisions on one sample"),
        (ORDER - 1, LOGITS, "larger split"),
        (ORDER + 1, LOGITS, "larger split"),
    ],
)
def test_decisions_that_fit_no_split_are_refused(tmp_path: Path, index: Any, logits: Any, message: str) -> None:
    Decisions(index, logits).save(tmp_path / "kept.npz")
    with pytest.raises(UserError, match=message):
        read_decisions(tmp_path / "kept.npz", SPLIT, 4)
