"""How far a run is, and the learning rate that goes with it."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass

from train.recipe import Recipe


@dataclass
class Clock:
    """Progress from 0 to 1: by steps, and by the wall clock where minutes are given, whichever is further.

    ``spent`` carries the seconds of a run that was interrupted, so that a resumed one ends where it would have.
    """

    steps: int
    minutes: float | None = None
    spent: float = 0.0

    def __post_init__(self) -> None:
        self._since = time.monotonic()

    @property
    def seconds(self) -> float:
        return self.spent + time.monotonic() - self._since

    def progress(self, step: int) -> float:
        by_steps = step / self.steps if self.steps else 1.0
        by_time = self.seconds / (60 * self.minutes) if self.minutes else 0.0
        return min(1.0, max(by_steps, by_time))


def learning_rate(recipe: Recipe, progress: float, steps_since_start: int) -> float:
    """Linear warm-up by steps (again after the adapter was cut), then a cosine over the progress."""
    warm = min(1.0, (steps_since_start + 1) / recipe.warmup_steps) if recipe.warmup_steps else 1.0
    low = recipe.final_learning_rate
    return recipe.learning_rate * warm * (low + (1 - low) * 0.5 * (1 + math.cos(math.pi * progress)))
