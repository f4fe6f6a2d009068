"""``python -m train``: the loop without Ray, on files of tokens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.train.conftest import tiny_model, toy_examples
from train.__main__ import main


@pytest.fixture
def host(tmp_path: Path) -> Path:
    """What is brought to a host: a base model and tokens."""
    tiny_model().save_pretrained(tmp_path / "base")
    toy_examples(60).save(tmp_path / "train.npz")
    toy_examples(20, seed=9).save(tmp_path / "dev.npz")
    return tmp_path


def run(host: Path, monkeypatch: pytest.MonkeyPatch, *more: str) -> None:
    given = ["--tokens", "train.npz", "--dev", "dev.npz", "--model", "base", "--out", "out", "--reports", "0"]
    small = ["--recipe", "smollm2-135m", "--set", "batch_tokens=256", "--device", "cpu"]
    monkeypatch.chdir(host)
    monkeypatch.setattr("sys.argv", ["train", *given, *small, *more])
    main()


def test_a_run_goes_on_for_longer_but_not_with_another_recipe(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run(host, monkeypatch, "--steps", "1")
    with pytest.raises(SystemExit, match=r"began with learning_rate 0\.001 and cannot go on with 0\.5"):
        run(host, monkeypatch, "--steps", "2", "--set", "learning_rate=0.5")
    run(host, monkeypatch, "--steps", "2")
    assert json.loads((host / "out" / "result.json").read_text())["place"]["step"] == 2


@pytest.mark.parametrize("change", ["rank", "rank=many"])
def test_a_change_that_is_none_is_told_in_plain_words(host: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    with pytest.raises(SystemExit, match="rank"):
        run(host, monkeypatch, "--set", change)


def test_a_host_needs_neither_ray_nor_arrow() -> None:
    without = "import sys; sys.modules.update(dict.fromkeys(('ray', 'pyarrow', 'duckdb', 'click', 'peft')))"
    subprocess.run([sys.executable, "-c", f"{without}; import train.__main__"], check=True)
