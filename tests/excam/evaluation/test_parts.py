from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from excam.evaluation.judged import Judged, Run
from excam.evaluation.parts import Parts
from excam.fault import UserError


def test_a_run_goes_on_where_it_was_killed_and_each_sample_comes_out_once(
    tmp_path: Path, run: Run, make_row: Any
) -> None:
    rows = [make_row(number, "error", "error") for number in range(6)]
    order = [row["sample_id"] for row in rows]
    Parts(tmp_path, run).add(rows[3:5])
    (tmp_path / "parts" / "000001.draft").write_bytes(b"half a file")
    again = Parts(tmp_path, run)
    assert again.done() == set(order[3:5])
    again.add([*rows[:3], rows[5], rows[3]])
    path = again.join(order)
    judged = Judged.read(path)
    assert judged.table["sample_id"].to_pylist() == order
    assert judged.run == run
    assert [entry.name for entry in tmp_path.iterdir()] == ["judged.parquet"]
    finished = Parts(tmp_path, run)
    assert finished.done() == set(order)
    assert Judged.read(finished.join(order)).table.equals(judged.table)


def test_files_of_others_in_the_folder_neither_go_nor_stop_the_run(tmp_path: Path, run: Run, make_row: Any) -> None:
    row = make_row(1, "error", "error")
    (tmp_path / "paper.draft").write_text("mine")
    (tmp_path / "judged.draft").write_bytes(b"half a file")
    parts = Parts(tmp_path, run)
    parts.add([row])
    (tmp_path / "parts" / ".DS_Store").write_text("what a file browser leaves")
    assert Judged.read(parts.join([row["sample_id"]])).run == run
    left = {str(entry.relative_to(tmp_path)) for entry in tmp_path.rglob("*")}
    assert left == {"judged.parquet", "paper.draft", "parts", "parts/.DS_Store"}


def test_another_judges_run_in_the_folder_is_refused_and_says_what_differs(
    tmp_path: Path, run: Run, make_row: Any
) -> None:
    Parts(tmp_path, run).add([make_row(1, "error", "error")])
    with pytest.raises(UserError, match="judge_version '0123456789abcdef' there") as caught:
        Parts(tmp_path, run.model_copy(update={"judge_version": "f" * 16}))
    assert "--out" in caught.value.fix


def test_a_join_that_misses_samples_is_refused_and_loses_nothing(tmp_path: Path, run: Run, make_row: Any) -> None:
    row = make_row(1, "error", "error")
    parts = Parts(tmp_path, run)
    parts.add([row])
    with pytest.raises(UserError, match="1 samples"):
        parts.join([row["sample_id"], "another"])
    assert Parts(tmp_path, run).done() == {row["sample_id"]}


def test_a_file_of_another_kind_is_no_judged_file(tmp_path: Path) -> None:
    path = tmp_path / "judged.parquet"
    path.write_bytes(b"PAR1 not really")
    with pytest.raises(UserError, match="no judged file"):
        Judged.read(tmp_path)
    with pytest.raises(UserError, match="no judged file"):
        Judged.read(tmp_path / "absent.parquet")
