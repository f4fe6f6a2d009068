"""What a worker leaves on its machine."""

from __future__ import annotations

from pathlib import Path

import pytest

from train.worker import own_folder


def test_a_workers_folder_takes_the_place_of_the_one_a_killed_worker_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    killed, beside, of_another = (own_folder(*given) for given in (("run", 0), ("run", 1), ("other", 0)))
    fresh = own_folder("run", 0)
    assert [folder.is_dir() for folder in (killed, beside, of_another, fresh)] == [False, True, True, True]
