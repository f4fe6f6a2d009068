"""The bare training loop: batches in a fixed order, figures on dev as it goes, checkpoints, an end on time."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from excam.fault import UserError
from train import checkpoint, lora
from train.batches import Batch, Turn, epoch, pack
from train.checkpoint import Place
from train.decide import decide, sample
from train.examples import Examples
from train.feed import feed
from train.figures import figures
from train.model import H200_BF16_FLOPS, flops_per_token
from train.recipe import Recipe
from train.schedule import Clock, learning_rate
from train.step import OnDevice, Weights, make_optimizer, train_step


@dataclass(frozen=True)
class Run:
    """What a run is given beside its recipe.

    For the record: ``without`` and ``share`` say what of the data it learns from, ``begin`` the adapters it began with.
    A run of no steps measures those, and saves their mean.
    """

    out: Path
    minutes: float | None = None
    max_steps: int | None = None
    say_every: int = 20
    figures_every: float = 0.2
    dev_sample: int = 2000
    save_every: int = 500
    rank: int = 0
    world: int = 1
    without: tuple[str, ...] = ()
    share: float = 1.0
    begin: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.max_steps == 0 and not self.begin:
            raise UserError("a run of no steps that begins with nothing makes no judge", "give it --steps, or --from")


class Trainer:
    """Trains one adapter. Several workers take every world-th batch each and average their gradients."""

    def __init__(self, model: Any, train: Examples, dev: Examples, recipe: Recipe, run: Run) -> None:
        self.model, self.train_set, self.dev_set, self.recipe, self.run = model, train, dev, recipe, run
        self.device = next(model.parameters()).device
        if recipe.notes_share and not len(train.notes):
            raise UserError("the data has no notes to read", "build it with --atlas, or set notes_share=0")
        self.decisions = torch.tensor(train.decisions, device=self.device)
        self.place = Place()
        self.mean: dict[str, Tensor] = {}
        self._skipped = torch.zeros((), dtype=torch.int64, device=self.device)
        self.optimizer = self._optimizer()
        per_epoch = len(list(self._epoch(0))) // run.world
        if not per_epoch:
            raise UserError(f"{len(train)} examples fill no batch for {run.world} workers", "use fewer workers")
        self.steps = max(1, int(per_epoch * recipe.epochs))
        if run.max_steps is not None:
            self.steps = min(self.steps, run.max_steps)
        run.out.mkdir(parents=True, exist_ok=True)
        found = checkpoint.load(run.out, model, self.optimizer, self.device)
        if found:
            self.place, self.mean = found
        self.clock = Clock(self.steps, run.minutes, self.place.seconds)
        self._log = (run.out / "metrics.jsonl").open("a", encoding="utf-8")

    def train(self, until: Callable[[int], bool] = lambda step: False) -> dict[str, float]:
        """Train to the end, or until told to stop; returns the last figures on the dev sample."""
        watched = sample(self.dev_set, self.run.dev_sample)
        measured, last = self._part(self.clock.progress(max(0, self.place.step - 1))), {}
        self._say(step=self.place.step, steps=self.steps, examples=len(self.train_set))
        tokens, seen, since = 0, 0, time.monotonic()
        for where, batch in self._ready():
            progress = self.clock.progress(self.place.step)
            if progress >= 1 or until(self.place.step):
                break
            if self._part(progress) > measured and self.run.rank == 0:
                measured, last = self._part(progress), self._figures(watched, progress)
                tokens, seen, since = 0, 0, time.monotonic()
            self._maybe_shrink(progress, watched)
            parts, finite = self._step(batch, progress)
            self.place.epoch, self.place.batch = where
            tokens += self.recipe.batch_tokens
            seen += len(batch.label)
            self._skipped += ~finite
            self._average(progress)
            if self.place.step % self.run.say_every == 0:
                self._count_skipped()
                passed = time.monotonic() - since
                speed = tokens / passed
                numbers = {name: round(part.item(), 4) for name, part in parts.items()}
                mfu = speed * flops_per_token(self.model) / H200_BF16_FLOPS
                self._say(
                    step=self.place.step,
                    progress=round(progress, 4),
                    epoch=self.place.epoch,
                    **numbers,
                    learning_rate=self.optimizer.param_groups[0]["lr"],
                    tokens_per_second=round(speed),
                    pairs_per_second=round(seen / passed),
                    mfu=round(mfu, 3),
                    skipped=self.place.skipped,
                )
                tokens, seen, since = 0, 0, time.monotonic()
            if self.place.step % self.run.save_every == 0:
                self.save()
        if self.mean and self.clock.progress(self.place.step) >= 1:
            checkpoint.put(self.model, self.mean)
        self.save()
        return last

    def save(self) -> None:
        """Write the checkpoint (one worker does)."""
        self._count_skipped()
        if self.run.rank == 0:
            self.place.seconds = self.clock.seconds
            checkpoint.save(self.run.out, self.place, self.model, self.optimizer, self.mean)

    def _count_skipped(self) -> None:
        """Ask the device how many steps it has left out since the last time, which waits until it has done them all."""
        self.place.skipped += int(self._skipped)
        self._skipped.zero_()

    def _part(self, progress: float) -> int:
        """In which part of the run this is: where another begins, figures are due, in a resumed run as in a whole."""
        return int(progress / (self.run.figures_every or 1e-9))

    def _optimizer(self) -> torch.optim.AdamW:
        return make_optimizer(lora.parameters(self.model).values(), self.recipe)

    def _epoch(self, number: int) -> Iterator[list[Turn]]:
        recipe = self.recipe
        return epoch(
            self.train_set,
            seed=recipe.seed,
            number=number,
            batch_tokens=int(recipe.batch_tokens * (1 - recipe.notes_share)),
            balance=recipe.balance,
            report_share=recipe.report_share,
        )

    def _turns(self) -> Iterator[tuple[tuple[int, int], list[Turn]]]:
        """This worker's batches from where the run stands, each with the place that follows it."""
        number, at, world = self.place.epoch, self.place.batch, self.run.world
        while True:
            batches = list(self._epoch(number))
            while at + world <= len(batches):
                at += world
                yield (number, at), batches[at - world + self.run.rank]
            number, at = number + 1, 0

    def _ready(self) -> Iterator[tuple[tuple[int, int], OnDevice]]:
        return feed(self._turns(), self._pack, self.device)

    def _pack(self, where: tuple[int, int], turns: list[Turn]) -> Batch:
        """With notes drawn for this place in the run alone, so that a resumed run reads the same."""
        recipe = self.recipe
        order = self.train_set.notes.drawn(recipe.seed, *where, self.run.rank) if recipe.notes_share else ()
        return pack(self.train_set, turns, recipe.batch_tokens, order)

    def _step(self, batch: OnDevice, progress: float) -> tuple[dict[str, Tensor], Tensor]:
        recipe = self.recipe
        rate = learning_rate(recipe, progress, self.place.step - self.place.shrunk_at)
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        weights = Weights.of(recipe, progress)
        if recipe.dropout or recipe.word_dropout:
            # Drawn for this step alone: a resumed run drops the same, on any device and in every worker.
            torch.manual_seed(((recipe.seed * 1_000_003 + self.place.step) * 1_009 + self.run.rank) % 2**63)
        self.place.step += 1
        return train_step(self.model, self.optimizer, batch, self.decisions, weights, recipe.clip, recipe.word_dropout)

    def _maybe_shrink(self, progress: float, watched: list[int]) -> None:
        rank = self.recipe.ship_rank
        if rank is None or self.place.shrunk or progress < self.recipe.shrink_at or rank >= self.recipe.rank:
            return
        if self.run.rank == 0:
            self._figures(watched, progress, event="before the cut")
        lora.shrink(self.model, rank)
        self.optimizer = self._optimizer()
        self._forget_average()  # factors of before the cut and after it have no mean
        self.place.shrunk, self.place.shrunk_at = True, self.place.step
        if self.run.rank == 0:
            self._figures(watched, progress, event=f"cut to rank {rank}")

    def _average(self, progress: float) -> None:
        if progress < self.recipe.average_from:
            self._forget_average()
            return
        self.place.averaged += 1
        for name, parameter in lora.parameters(self.model).items():
            if name in self.mean:
                self.mean[name].lerp_(parameter.detach(), 1 / self.place.averaged)
            else:
                self.mean[name] = parameter.detach().clone()

    def _forget_average(self) -> None:
        self.mean, self.place.averaged = {}, 0

    def _figures(self, chosen: list[int], progress: float, **more: str) -> dict[str, float]:
        decided = decide(self.model, self.dev_set, chosen, self.recipe.batch_tokens, self.device)
        found = figures(decided, self.dev_set)
        rounded = {name: round(value, 4) for name, value in found.items()}
        self._say(step=self.place.step, progress=round(progress, 4), **more, dev=rounded)
        return found

    def _say(self, **facts: Any) -> None:
        if self.run.rank == 0:
            line = json.dumps({"seconds": round(self.clock.seconds, 1), **facts})
            self._log.write(line + "\n")
            self._log.flush()
            print(line, flush=True)
