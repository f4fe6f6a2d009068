"""The loop: it learns, it ends on time, and what was interrupted goes on as if it had not been."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from tests.train.conftest import tiny_model, toy_examples
from train import lora
from train.decide import decide, sample
from train.examples import Examples
from train.figures import figures
from train.loop import Run, Trainer
from train.model import prepare
from train.recipe import Recipe

RECIPE = Recipe(rank=8, alpha=16, batch_tokens=256, learning_rate=2e-2, warmup_steps=5, epochs=20, compile=False)


def trainer(out: Path, recipe: Recipe = RECIPE, **options: Any) -> Trainer:
    examples = toy_examples(240)
    return Trainer(prepare(tiny_model(), recipe), examples, toy_examples(240, seed=9), recipe, Run(out, **options))


def weights(found: Trainer) -> dict[str, torch.Tensor]:
    return {name: parameter.detach().clone() for name, parameter in lora.parameters(found.model).items()}


def told(out: Path) -> list[tuple[int, float | None, dict[str, float] | None]]:
    """The losses and the figures on dev that a run told, by step."""
    lines = [json.loads(line) for line in (out / "metrics.jsonl").read_text().splitlines()]
    return [(line["step"], line.get("decision"), line.get("dev")) for line in lines if "steps" not in line]


def test_a_learnable_decision_is_learned_with_its_report(tmp_path: Path) -> None:
    run = trainer(tmp_path, figures_every=1.0, max_steps=240)
    run.train()
    dev: Examples = run.dev_set
    found = figures(decide(run.model, dev, range(len(dev)), 256, torch.device("cpu")), dev)
    assert found["scaled_accuracy"] > 0.9
    assert found["false_alarms"] < 0.1
    assert found["twins_in_order"] > 0.9
    lines = [json.loads(line) for line in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    losses = [line["report"] for line in lines if "report" in line]
    assert losses[-1] < losses[0]


def test_what_is_dropped_out_of_a_step_does_not_depend_on_what_was_drawn_before(tmp_path: Path) -> None:
    def ended(name: str, dropout: float, until: Callable[[int], bool] = lambda step: False) -> torch.Tensor:
        run = trainer(tmp_path / name, RECIPE.model_copy(update={"dropout": dropout}), max_steps=3)
        run.train(until)
        return torch.cat([one.flatten() for one in weights(run).values()])

    usual = ended("usual", 0.3)
    assert torch.equal(ended("drawn", 0.3, lambda step: bool(torch.rand(1) > 1)), usual)
    assert not torch.equal(ended("all", 0.0), usual)


@pytest.mark.parametrize("stop", [3, 17])
def test_a_resumed_run_sees_the_same_batches_and_ends_with_the_same_weights(tmp_path: Path, stop: int) -> None:
    often: dict[str, Any] = {"max_steps": 24, "say_every": 4, "dev_sample": 8}
    whole = trainer(tmp_path / "whole", **often)
    whole.train()
    first = trainer(tmp_path / "halves", **often)
    first.train(until=lambda step: step >= stop)
    assert first.place.step == stop
    second = trainer(tmp_path / "halves", **often)
    second.train()
    assert told(tmp_path / "halves") == told(tmp_path / "whole")
    assert (second.place.step, second.place.epoch, second.place.batch) == (24, whole.place.epoch, whole.place.batch)
    expected = weights(whole)
    assert all(torch.equal(expected[name], found) for name, found in weights(second).items())


def test_a_run_of_code_that_stepped_otherwise_goes_on(tmp_path: Path) -> None:
    first = trainer(tmp_path, max_steps=2)
    first.train()
    for group in first.optimizer.param_groups:
        group["fused"] = False
    first.save()
    second = trainer(tmp_path, max_steps=4)
    second.train()
    assert second.place.step == 4


def test_a_run_goes_on_for_longer_than_it_was_to(tmp_path: Path) -> None:
    trainer(tmp_path, max_steps=2).train()
    longer = trainer(tmp_path, RECIPE.model_copy(update={"epochs": 40}), max_steps=4)
    longer.train()
    assert longer.place.step == 4


@pytest.mark.parametrize("average_from", [1.0, 0.0])
def test_a_run_cut_on_the_way_ends_with_the_rank_to_ship(tmp_path: Path, average_from: float) -> None:
    recipe = RECIPE.model_copy(update={"ship_rank": 2, "shrink_at": 0.5, "average_from": average_from})
    run = trainer(tmp_path, recipe, max_steps=12)
    run.train()
    assert run.place.shrunk
    for one in lora.adapters(run.model).values():
        assert int(torch.linalg.matrix_rank(one.up @ one.down, atol=1e-5)) <= 2


def test_a_run_ends_when_its_minutes_are_over(tmp_path: Path) -> None:
    run = trainer(tmp_path, minutes=1e-9)
    run.train()
    assert run.place.step == 0


def test_averaged_weights_lie_between_those_of_the_last_steps(tmp_path: Path) -> None:
    run = trainer(tmp_path, RECIPE.model_copy(update={"average_from": 0.0}), max_steps=1)
    run.train()
    assert run.place.averaged == 1
    assert all(torch.equal(run.mean[name], found) for name, found in weights(run).items())


def test_a_run_that_goes_on_for_longer_averages_its_own_last_steps(tmp_path: Path) -> None:
    recipe = RECIPE.model_copy(update={"average_from": 0.5})
    trainer(tmp_path, recipe, max_steps=2).train()
    longer = trainer(tmp_path, recipe, max_steps=8)
    longer.train()
    assert longer.place.averaged == 4


def test_a_sample_keeps_twins_together() -> None:
    examples = toy_examples(100)
    chosen = set(sample(examples, 30))
    assert 30 <= len(chosen) <= 31
    assert all(examples.twin[index] < 0 or int(examples.twin[index]) in chosen for index in chosen)
