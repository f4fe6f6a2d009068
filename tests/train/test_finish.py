"""The end of a run: its adapter and figures are kept whatever dev holds, and refused where they mean nothing."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from excam.fault import UserError
from excam.models.digest import file_sha256
from tests.train.conftest import tiny_model, toy_examples
from train.examples import ERROR, Examples
from train.figures import Decisions
from train.finish import finish
from train.loop import Run, Trainer
from train.model import prepare
from train.recipe import Recipe
from train.selection import chosen

RECIPE = Recipe(rank=4, alpha=8, batch_tokens=256, learning_rate=1e-2, warmup_steps=0, compile=False)


def trained(out: Path, dev: Examples, weight: float = 1.0, **changes: float) -> Trainer:
    recipe, examples = RECIPE.model_copy(update=changes), toy_examples()
    examples = replace(examples, weight=np.full(len(examples), weight, np.float32))
    run = Trainer(prepare(tiny_model(), recipe), examples, dev, recipe, Run(out, max_steps=3, figures_every=2.0))
    run.train()
    return run


def test_a_dev_split_without_errors_has_no_reports_to_write_and_ends_no_run(tmp_path: Path) -> None:
    dev = toy_examples(20)
    clean = chosen(dev, np.flatnonzero(dev.label != ERROR))
    result = finish(trained(tmp_path, clean), base="tiny", tokenizer=object(), reports=3)
    assert result["reports"] == {"reports": 0, "free_failures": 0, "failures": 0}
    assert result["dev_pairs"] == len(clean)
    kept = Decisions.load(tmp_path / "dev-decisions.npz")
    weights = tmp_path / "adapter" / "adapter_model.safetensors"
    assert (kept.dataset, kept.adapter) == (clean.dataset, file_sha256(weights))


def test_an_adapter_whose_decisions_are_no_numbers_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="decisions on 21 of 21 pairs are no numbers"):
        finish(trained(tmp_path, toy_examples(21), learning_rate=1e30), base="tiny")


def test_a_run_in_which_no_step_counted_is_no_result(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="none of 3 steps"):
        finish(trained(tmp_path, toy_examples(20), weight=0.0, balance=0.0), base="tiny")
