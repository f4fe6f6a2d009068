"""A run goes on with the base, data and recipe it began with, for longer if need be, or says what is not the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from excam.fault import UserError
from tests.train.conftest import toy_examples
from train.loop import Run
from train.recipe import Recipe
from train.storage import Folder
from train.terms import hold_to, terms_of

RECIPE = Recipe()


def go_on(
    folder: Path,
    recipe: Recipe = RECIPE,
    *,
    begun: bool = True,
    base: str = "a" * 64,
    workers: int = 1,
    **options: Any,
) -> None:
    terms = terms_of(recipe, Run(folder, **options), toy_examples(8), base, workers)
    hold_to(terms, Folder(str(folder)), begun=begun)


@pytest.mark.parametrize(
    ("options", "recipe", "named"),
    [
        ({"share": 0.5}, RECIPE, "share 1.0 and cannot go on with 0.5"),
        ({"without": ("blend",)}, RECIPE, "without"),
        ({"base": "b" * 64}, RECIPE, "base 'aaa"),
        ({"workers": 2}, RECIPE, "workers 1 and cannot go on with 2"),
        ({"begin": ("runs/0/adapter",)}, RECIPE, r"from \[\] and cannot go on"),
        ({}, RECIPE.model_copy(update={"seed": 1}), "seed 0 and cannot go on with 1"),
    ],
)
def test_a_run_does_not_go_on_with_another_base_other_data_or_another_recipe(
    tmp_path: Path, options: dict[str, Any], recipe: Recipe, named: str
) -> None:
    go_on(tmp_path, begun=False)
    with pytest.raises(UserError, match=named):
        go_on(tmp_path, recipe, **options)
    go_on(tmp_path)


def test_it_may_go_on_for_longer(tmp_path: Path) -> None:
    go_on(tmp_path, begun=False)
    go_on(tmp_path, RECIPE.model_copy(update={"epochs": 40}), max_steps=4)


def test_one_that_never_got_anywhere_binds_nobody(tmp_path: Path) -> None:
    go_on(tmp_path, begun=False)
    go_on(tmp_path, begun=False, share=0.5)
    go_on(tmp_path, share=0.5)


def test_a_run_from_before_terms_were_kept_goes_on(tmp_path: Path) -> None:
    go_on(tmp_path, share=0.5)
