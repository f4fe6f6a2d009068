"""``python -m train``: the loop without Ray, on files of tokens."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.train.conftest import tiny_model, toy_examples
from train import adapter
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


def test_a_run_of_no_steps_measures_the_mean_of_adapters(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in ("1", "2"):
        run(host, monkeypatch, "--steps", "2", "--set", f"seed={seed}", "--out", f"run{seed}")
    both = [host / f"run{seed}" / "adapter" for seed in ("1", "2")]
    run(host, monkeypatch, "--steps", "0", *(f"--from={folder}" for folder in both), "--set", "rank=16")
    result = json.loads((host / "out" / "result.json").read_text())
    assert result["place"]["step"] == 0
    assert result["begin"] == [str(folder) for folder in both]
    assert result["dev_pairs"] == 20
    saved, mean = adapter.mean_update([host / "out" / "adapter"]), adapter.mean_update(both)
    for name, (down, up) in mean.items():
        apart = saved[name][1] @ saved[name][0] - up @ down
        assert apart.norm() < 0.01 * (up @ down).norm()


def test_a_run_of_no_steps_that_begins_with_nothing_is_refused(host: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SystemExit, match="makes no judge"):
        run(host, monkeypatch, "--steps", "0")


@pytest.mark.parametrize("change", ["rank", "rank=many"])
def test_a_change_that_is_none_is_told_in_plain_words(host: Path, monkeypatch: pytest.MonkeyPatch, change: str) -> None:
    with pytest.raises(SystemExit, match="rank"):
        run(host, monkeypatch, "--set", change)


def test_a_host_needs_neither_ray_nor_arrow() -> None:
    without = "import sys; sys.modules.update(dict.fromkeys(('ray', 'pyarrow', 'duckdb', 'click', 'peft')))"
    subprocess.run([sys.executable, "-c", f"{without}; import train.__main__"], check=True)
