"""What a worker of a training job runs, the first time and after each failure.

Each worker trains in a folder of its own. What it saves there (checkpoint and metrics) goes to the job's storage with
``ray.train.report``; when a worker dies, Ray Train starts all of them again and each begins with that folder. So the
lines of metrics, like the batches, are those of a run that was never disturbed.
"""

from __future__ import annotations

import hashlib
import shutil
import tempfile
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray
import ray.train
import torch
import torch.distributed as dist
from ray.train import Checkpoint

from train import lora, model
from train.finish import finish
from train.loop import Run, Trainer
from train.recipe import Recipe
from train.schedule import Clock
from train.snapshot import clear_unlisted
from train.storage import NAME, Folder


@dataclass(frozen=True)
class Job:
    """What is trained, how, and with how many workers; ``run.out`` is where the result lands."""

    base: str
    base_sha256: str
    recipe: Recipe
    run: Run
    storage: str
    workers: int = 1
    cpus_per_worker: float = 1.0
    gpus_per_worker: float = 0.0
    max_failures: int = 3
    reports: int = 0


class AgreedClock(Clock):
    """The first worker's progress, for all: each reading its own clock, some would stop a step before others."""

    device: torch.device

    def progress(self, step: int) -> float:
        found = torch.tensor(super().progress(step), dtype=torch.float64, device=self.device)
        dist.broadcast(found, 0)
        return float(found)


class WorkerTrainer(Trainer):
    """The loop inside a worker: what it saves is reported to Ray Train, what it says goes to the board."""

    def __init__(self, board: Any, *given: Any) -> None:
        super().__init__(*given)
        self._board = board
        if self.run.world > 1:
            self.clock = AgreedClock(self.clock.steps, self.clock.minutes, self.clock.spent)
            self.clock.device = self.device

    def save(self) -> None:
        """Write the checkpoint and hand the folder over; every worker takes part, the first one has the files."""
        super().save()
        report_folder(self.run, self.place.step)

    def _say(self, **facts: Any) -> None:
        super()._say(**facts)
        if self.run.rank == 0:
            self._board.write.remote(facts)


def report_folder(run: Run, step: int) -> None:
    """Keep the worker's folder in the job's storage."""
    ray.train.report({"step": step}, Checkpoint.from_directory(run.out) if run.rank == 0 else None)


def own_folder(storage: str, rank: int) -> Path:
    """A fresh folder for this worker; what one of the same run and rank left here when it was killed is removed."""
    prefix = f"excam-train-{hashlib.sha256(storage.encode()).hexdigest()[:12]}-{rank}-"
    for left in Path(tempfile.gettempdir()).glob(f"{prefix}*"):
        shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=prefix))


def work(given: dict[str, Any]) -> None:
    """What every worker runs, the first time and after each failure."""
    from excam.models import load_tokenizer, resolve

    job: Job = given["job"]
    context = ray.train.get_context()
    out = own_folder(job.storage, context.get_world_rank())
    try:
        found = ray.train.get_checkpoint()
        if found is not None:
            with found.as_directory() as kept:
                shutil.copytree(kept, out, dirs_exist_ok=True)
        run = replace(job.run, out=out, rank=context.get_world_rank(), world=context.get_world_size())
        if run.rank == 0:
            clear_unlisted(Folder(job.storage, NAME))
        device = ray.train.torch.get_device()
        torch.set_float32_matmul_precision("high")
        if device.type == "cpu":
            torch.set_num_threads(max(1, int(job.cpus_per_worker)))  # what it was given, whatever OMP_NUM_THREADS says
        torch.manual_seed(job.recipe.seed)
        base = resolve(job.base)
        if base.sha256 != job.base_sha256:
            raise RuntimeError(f"{job.base} on this node is {base.sha256}, the driver has {job.base_sha256}")
        network = model.load(base.path, job.recipe, device)
        train, dev, begin = ray.get([given["train"], given["dev"], given["begin"]])
        if begin:
            lora.begin(network, begin, job.recipe.begin_share)
        trainer = WorkerTrainer(given["board"], network, train, dev, job.recipe, run)
        given["board"].write.remote({"event": "started", "rank": run.rank, "step": trainer.place.step})
        trainer.train()
        if run.rank == 0:
            tokenizer = load_tokenizer(base.path) if job.reports else None
            finish(trainer, base=base.name, base_sha256=base.sha256, tokenizer=tokenizer, reports=job.reports)
        report_folder(run, trainer.place.step)
    finally:
        shutil.rmtree(out, ignore_errors=True)
