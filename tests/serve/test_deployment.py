"""What whoever starts a judge does on machines with and without a GPU."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from serve import identity


def test_torch_is_asked_for_a_gpu_only_where_there_may_be_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("torch.cuda.is_available", lambda: True)
    monkeypatch.setattr(identity, "DEVICES", tmp_path)
    monkeypatch.setattr(sys, "platform", "linux")
    (tmp_path / "nvme0").touch()  # a disk
    assert not identity.has_gpu()
    (tmp_path / "nvidia0").touch()
    assert identity.has_gpu()


def test_whoever_starts_a_judge_on_a_machine_without_a_gpu_loads_no_torch(tmp_path: Path) -> None:
    code = (
        "import pathlib, sys; sys.platform = 'linux'; from serve import identity; "
        "identity.DEVICES = pathlib.Path(sys.argv[1]); "
        "sys.exit(identity.has_gpu() or 'torch' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True, timeout=120)
