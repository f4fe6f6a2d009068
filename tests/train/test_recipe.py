"""Recipes: every file is valid, and a mistake in one is named."""

from __future__ import annotations

from pathlib import Path

import pytest

from excam.fault import UserError
from train.recipe import RECIPES, Recipe
from train.schedule import Clock, learning_rate


@pytest.mark.parametrize("name", sorted(file.stem for file in RECIPES.glob("*.yaml")))
def test_every_recipe_that_ships_is_valid(name: str) -> None:
    assert Recipe.load(name).rank > 0


def test_the_papers_recipe_is_the_papers() -> None:
    recipe = Recipe.load("paper")
    assert (recipe.rank, recipe.alpha, recipe.learning_rate, recipe.epochs) == (128, 32, 1e-4, 1)
    assert (recipe.weight_decay, recipe.beta1, recipe.beta2, recipe.clip, recipe.warmup_steps) == (
        0.1,
        0.9,
        0.95,
        1,
        100,
    )
    assert (recipe.decision_weight, recipe.ranking_weight, recipe.report_weight) == (0, 0, (1, 1))


def test_mistakes_name_the_field_and_the_recipes_there_are(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="rank"):
        Recipe.load("paper", rank=0)
    with pytest.raises(UserError, match="smollm2-135m"):
        Recipe.load("papers")
    (tmp_path / "mine.yaml").write_text("ranc: 3")
    with pytest.raises(UserError, match="ranc"):
        Recipe.load(tmp_path / "mine.yaml")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("seed", -1),
        ("epochs", float("inf")),
        ("learning_rate", float("inf")),
        ("layers", []),
        ("report_weight", [0.5, -1]),
    ],
)
def test_a_value_that_workers_could_not_use_is_refused_before_they_start(field: str, value: object) -> None:
    with pytest.raises(UserError, match=field):
        Recipe.load("paper", **{field: value})


@pytest.mark.parametrize("content", [b"[" * 1500, b"\xff", b"rank: " + b"1" * 5000, b"3"])
def test_a_file_that_is_no_recipe_is_named(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "mine.yaml").write_bytes(content)
    with pytest.raises(UserError, match=r"mine\.yaml is no YAML mapping"):
        Recipe.load(tmp_path / "mine.yaml")


def test_the_learning_rate_warms_up_and_falls_to_its_end() -> None:
    recipe = Recipe(learning_rate=1.0, warmup_steps=10)
    assert learning_rate(recipe, 0.0, 4) == pytest.approx(0.5)
    assert learning_rate(recipe, 0.5, 100) == pytest.approx(0.5)
    assert learning_rate(recipe, 1.0, 100) == pytest.approx(0.0)


def test_progress_is_the_further_of_steps_and_clock() -> None:
    assert Clock(steps=10).progress(5) == 0.5
    assert Clock(steps=10, minutes=1, spent=45).progress(1) == pytest.approx(0.75, abs=0.05)
    assert Clock(steps=10, minutes=1, spent=90).progress(1) == 1
