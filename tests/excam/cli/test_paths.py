"""What is written lands where it was meant to, or nowhere."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from excam.cli import cli

TRAIN = ["train", "--base", "smollm2-135m", "--data", "data", "--out"]


@pytest.mark.parametrize("command", [["sample"], TRAIN, ["dataset", "build", "--sources", "here", "--out"]])
@pytest.mark.parametrize(
    ("place", "told"), [("s3://me:tr0ub4dor@bucket/x", "this is an address"), ("", "is a variable unset?")]
)
def test_an_address_or_an_empty_name_becomes_no_folder_here(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], place: str, told: str
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = CliRunner().invoke(cli, [*command, place])
    assert refused.exit_code == 2
    assert told in refused.stderr
    assert "tr0ub4dor" not in refused.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_tilde_that_no_shell_replaced_is_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    assert CliRunner().invoke(cli, ["sample", "~/logs/sample.parquet"]).exit_code == 0
    assert (tmp_path / "logs" / "sample.parquet").is_file()
