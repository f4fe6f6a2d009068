"""What a run says of itself when there was nothing for the judge to do, and why that was."""

from __future__ import annotations

from pathlib import Path

import pytest

from excam.fault import UserError
from excam.store import Store
from pipelines.batch import score_logs
from serve.settings import JudgeSettings


@pytest.mark.parametrize("names", [["a.parquet"], ["a.parquet", "b.parquet"]])
def test_a_run_all_of_whose_files_are_broken_is_a_mistake(
    tmp_path: Path, store_url: str, judge_settings: JudgeSettings, names: list[str]
) -> None:
    for name in names:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(UserError, match=r"a\.parquet: .*0 bytes") as refused:
        score_logs([str(tmp_path)], store_url, judge_settings)
    assert refused.value.fix
    with Store.open(store_url, read_only=True) as store:
        assert store.query(lambda asked: asked.execute("SELECT state FROM lake.runs").fetchall()) == [("failed",)]
        assert store.dead_letters().num_rows == 0
