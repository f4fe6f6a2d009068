"""``excam train`` tells what is wrong before Ray starts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner
from filelock import FileLock

from excam.cli.train import train
from excam.fault import UserError
from excam.models import BaseModel, write_card
from tests.train.conftest import tiny_model
from train import adapter
from train.model import prepare
from train.recipe import Recipe


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (["--resume"], "holds no run"),
        (["--steps", "0"], "makes no judge"),
        (["--set", "rank"], "changes nothing"),
        (["--set", "rang=8"], "rang"),
        (["--recipe", "nobody"], "no recipe"),
        (["--set", "batch_tokens=512"], "too small for two twins"),
        ([], "there is no"),
    ],
)
def test_a_mistake_is_told_before_ray_starts(tmp_path: Path, more: list[str], complaint: str) -> None:
    given = ["--base", "smollm2-135m", "--data", str(tmp_path / "data"), "--out", str(tmp_path / "out"), *more]
    (tmp_path / "data").mkdir()
    if "too small" in complaint:
        (tmp_path / "data" / "train.parquet").touch()
    answer = CliRunner().invoke(train, given)
    assert isinstance(answer.exception, UserError), answer.output
    assert complaint in answer.exception.message


def test_storage_may_be_named_from_where_one_stands(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ray takes a path that does not begin with / for a URL without a scheme."""
    monkeypatch.chdir(tmp_path)
    given = ["--base", "smollm2-135m", "--data", ".", "--out", "out", "--storage", "kept", "--resume"]
    assert f"{tmp_path / 'kept'} holds no run" in str(CliRunner().invoke(train, given).exception)


@pytest.mark.parametrize("taken", ["out", "kept"])
def test_two_runs_do_not_work_in_one_folder(tmp_path: Path, taken: str) -> None:
    """Neither in that of their results nor in that of their checkpoints."""
    given = ["--base", "smollm2-135m", "--data", str(tmp_path), "--out", str(tmp_path / "out")]
    given += ["--storage", str(tmp_path / "kept")]
    (tmp_path / taken).mkdir()
    with FileLock(tmp_path / taken / ".lock"):
        answer = CliRunner().invoke(train, given)
    assert isinstance(answer.exception, UserError), answer.output
    assert f"another run is at work in {tmp_path / taken}" in answer.exception.message
    for storage in ("kept", "out"):
        ended = CliRunner().invoke(train, [*given, "--storage", str(tmp_path / storage)])
        assert "there is no" in str(ended.exception), "the first has ended: only data is missing"


@pytest.mark.parametrize("published", [False, True])
def test_a_folder_with_an_adapter_of_another_base_is_no_beginning(tmp_path: Path, published: bool) -> None:
    other, folder = BaseModel("twin", tmp_path, "b" * 64, "CC0-1.0"), tmp_path / "run" / "adapter"
    adapter.save(prepare(tiny_model(), Recipe(rank=4, alpha=8, compile=False)), folder, base="twin")
    if published:
        write_card(folder, name="judge", version="1", base=other, dataset="none")
    else:
        (tmp_path / "run" / "result.json").write_text(json.dumps({"base_sha256": other.sha256}))
    given = ["--base", "smollm2-135m", "--data", str(tmp_path), "--out", str(tmp_path / "out"), "--from", str(folder)]
    answer = CliRunner().invoke(train, given)
    assert isinstance(answer.exception, UserError), answer.output
    assert "another base model" in answer.exception.message
