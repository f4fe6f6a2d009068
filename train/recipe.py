"""A recipe: every number of a training run, documented where it is defined, with files for the ones we use."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, NonNegativeFloat, PositiveFloat, ValidationError

from excam.fault import UserError

RECIPES = Path(__file__).with_name("recipes")


def read_changes(changes: Iterable[str]) -> dict[str, Any]:
    """Single values given as ``FIELD=VALUE``; a value is read as JSON, and as a word where it is none."""
    values: dict[str, Any] = {}
    for change in changes:
        field, equals, text = change.partition("=")
        if not equals:
            raise UserError(f"--set {change} changes nothing", "write --set FIELD=VALUE, such as --set rank=32")
        try:
            values[field] = json.loads(text)
        except ValueError:
            values[field] = text
    return values


class Recipe(BaseModel):
    """How to train; what it leaves open (which base, which data, how long) is given on the command line."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    seed: int = Field(default=0, ge=0, description="orders the data and draws the adapter's first weights")
    epochs: float = Field(default=1.0, gt=0, description="at most so many passes; a time budget may end it earlier")
    batch_tokens: int = Field(default=16_384, ge=64, description="tokens a step, always filled to exactly this many")

    rank: int = Field(default=64, ge=1, description="of the adapter while it trains")
    alpha: float = Field(default=64.0, gt=0, description="the update counts alpha / rank")
    dropout: float = Field(default=0.0, ge=0, lt=1, description="of the adapter's input")
    word_dropout: float = Field(
        default=0.0, ge=0, lt=1, description="of what two twins both say: a fact is to be known in other words too"
    )
    layers: tuple[str, ...] = Field(
        default=("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"),
        min_length=1,
        description="linear layers that get an adapter, by the last part of their name",
    )
    ship_rank: int | None = Field(default=None, ge=1, description="rank of the adapter that is saved, if smaller")
    shrink_at: float = Field(
        default=1.0, ge=0, le=1, description="progress at which it is cut to ship_rank, so that the rest can heal it"
    )

    learning_rate: float = Field(default=2e-4, gt=0)
    final_learning_rate: float = Field(default=0.0, ge=0, le=1, description="as a share of the learning rate")
    warmup_steps: int = Field(default=100, ge=0)
    weight_decay: float = Field(default=0.0, ge=0)
    beta1: float = Field(default=0.9, ge=0, lt=1)
    beta2: float = Field(default=0.95, ge=0, lt=1)
    clip: float = Field(default=1.0, gt=0, description="longest gradient")

    decision_weight: float = Field(default=1.0, ge=0, description="of the cross-entropy among the three decisions")
    ranking_weight: float = Field(default=1.0, ge=0, description="of softplus(-(d_wrong - d_right)) between twins")
    answer_weight: float = Field(
        default=0.0, ge=0, description="of saying the right answer of two twins, and of preferring it to the wrong one"
    )
    report_weight: tuple[NonNegativeFloat, NonNegativeFloat] = Field(
        default=(0.5, 0.5), description="of the report's text, at the start and at the end, linear between"
    )
    report_share: float = Field(
        default=1.0, ge=0, le=1, description="share of the error reports read whole; the others end at the decision"
    )
    balance: float = Field(
        default=0.5, ge=0, le=1, description="1 repeats samples by their weight, 0 weighs their loss; between, both"
    )
    notes_share: float = Field(
        default=0.0,
        ge=0,
        le=0.9,
        description="of every batch for notes: the atlas's facts as plain questions and answers",
    )
    notes_weight: float = Field(default=1.0, ge=0, description="of giving the answers of the notes")
    source_weight: dict[str, PositiveFloat] = Field(
        default_factory=dict, description="what the samples of a source count in training, times the weight they have"
    )
    begin_share: float = Field(
        default=1.0, gt=0, le=1, description="of the update to begin with (--from): less forgets what it knows by heart"
    )
    average_from: float = Field(default=1.0, ge=0, le=1, description="progress from which weights are averaged")

    compile: bool = Field(default=True, description="compile the decoder layers where there is a GPU")
    checkpointing: bool = Field(default=False, description="recompute activations: less memory, a third slower")

    @classmethod
    def load(cls, name: str | Path, **changes: Any) -> Recipe:
        """A recipe by name or file, with single values changed (None changes nothing)."""
        path = Path(name) if Path(name).suffix in (".yaml", ".yml") else RECIPES / f"{name}.yaml"
        try:
            settings = yaml.safe_load(path.read_text("utf-8")) or {}
            return cls.model_validate(settings | {key: value for key, value in changes.items() if value is not None})
        except OSError:
            there = ", ".join(sorted(file.stem for file in RECIPES.glob("*.yaml")))
            raise UserError(f"there is no recipe {str(name)!r}", f"use one of {there}, or a YAML file") from None
        except ValidationError as problem:
            first = problem.errors(include_url=False)[0]
            where = ".".join(str(step) for step in first["loc"])
            raise UserError(f"recipe {path}, {where}: {first['msg']}", "see train/recipe.py for every field") from None
        except (yaml.YAMLError, TypeError, ValueError, RecursionError) as problem:
            raise UserError(f"recipe {path} is no YAML mapping: {problem}", "give a mapping of settings") from problem

    def report_weight_at(self, progress: float) -> float:
        start, end = self.report_weight
        return start + (end - start) * min(1.0, max(0.0, progress))
