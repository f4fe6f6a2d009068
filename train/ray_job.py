"""Training as a Ray Train job: the one loop on one worker or many, taken up again where a dead worker left it.

Each worker trains in a folder of its own. What it saves there (checkpoint and metrics) goes to the job's storage with
``ray.train.report``; when a worker dies, Ray Train starts all of them again and each begins with that folder. So the
lines of metrics, like the batches, are those of a run that was never disturbed.
"""

from __future__ import annotations

import hashlib
import shutil
import signal
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import ray
import ray.train
import torch
import torch.distributed as dist
from ray.exceptions import RayActorError
from ray.train import (
    Checkpoint,
    CheckpointConfig,
    FailureConfig,
    RunConfig,
    ScalingConfig,
    TrainingFailedError,
    WorkerGroupError,
)
from ray.train.torch import TorchConfig, TorchTrainer
from ray.train.v2._internal.callbacks.placement_group_callback import PlacementGroupCleanerCallback

from excam.fault import UserError
from train import lora, model
from train.board import Board, Failures, Say, listening, why
from train.examples import Examples
from train.finish import finish
from train.loop import Run, Trainer
from train.recipe import Recipe
from train.schedule import Clock
from train.snapshot import Spares, mended
from train.terms import hold_to, terms_of

NAME = "ray"
FILES = ("result.json", "dev-decisions.npz", "reports.json", "metrics.jsonl")
PATIENCE_S = 1800  # how long workers wait for the first one while it measures on dev


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


class JobTrainer(TorchTrainer):  # type: ignore[misc]
    """Ray Train without its actor that frees a job's resources when the job's controller has died.

    That one asks Ray's dashboard whether the controller lives. Of a cluster that has none, another cluster's dashboard
    may answer: it knows of no such job, and all workers are ended in the middle of it. What the actor would free
    goes with the job anyway, and the job with the command that began it.
    """

    def _create_default_callbacks(self) -> list[Any]:
        found = super()._create_default_callbacks()
        return [callback for callback in found if not isinstance(callback, PlacementGroupCleanerCallback)]


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
            lora.begin(network, begin)
        trainer = WorkerTrainer(given["board"], network, train, dev, job.recipe, run)
        given["board"].write.remote({"event": "started", "rank": run.rank, "step": trainer.place.step})
        trainer.train()
        if run.rank == 0:
            tokenizer = load_tokenizer(base.path) if job.reports else None
            finish(trainer, base=base.name, base_sha256=base.sha256, tokenizer=tokenizer, reports=job.reports)
        report_folder(run, trainer.place.step)
    finally:
        shutil.rmtree(out, ignore_errors=True)


def fit(
    job: Job,
    train: Examples,
    dev: Examples,
    say: Say = lambda facts: None,
    begin: Mapping[str, tuple[torch.Tensor, torch.Tensor]] | None = None,
) -> Path:
    """Run the job to its end and bring adapter, result and metrics into ``job.run.out``; returns that folder.

    ``begin`` is an update to begin with instead of none, as :func:`train.adapter.mean_update` reads it.
    """
    terms = terms_of(job.recipe, job.run, train, job.base_sha256, job.workers)
    hold_to(terms, f"{job.storage}/{NAME}", begun=begun(job.storage))
    board: Any = Board.remote()  # type: ignore[attr-defined]
    given = {"job": job, "board": board, "train": ray.put(train), "dev": ray.put(dev), "begin": ray.put(begin)}
    resources = {"CPU": job.cpus_per_worker} | ({"GPU": job.gpus_per_worker} if job.gpus_per_worker else {})
    trainer = JobTrainer(
        work,
        train_loop_config=given,
        torch_config=TorchConfig(timeout_s=PATIENCE_S),
        scaling_config=ScalingConfig(
            num_workers=job.workers, use_gpu=job.gpus_per_worker > 0, resources_per_worker=resources
        ),
        run_config=RunConfig(
            name=NAME,
            storage_path=job.storage,
            failure_config=FailureConfig(max_failures=job.max_failures),
            checkpoint_config=CheckpointConfig(num_to_keep=2),
            callbacks=[Failures(board), Spares(f"{job.storage}/{NAME}")],
        ),
    )
    interrupt = signal.getsignal(signal.SIGINT)
    try:
        with listening(board, say):
            result = trainer.fit()
    except (TrainingFailedError, RayActorError) as error:
        workers = isinstance(error, WorkerGroupError)
        leader, attempts = "the process that leads the workers failed", f"{job.max_failures + 1} attempts failed"
        what = f"{attempts}, the last with" if workers else leader
        raise UserError(
            f"{what}: {why(error)}",
            f"mend that, then go on from the last checkpoint in {job.storage} with --resume",
        ) from error
    except SystemExit as end:  # what Ray Train makes of Ctrl-C once it has ended the workers
        again = f"go on from the last checkpoint in {job.storage} with --resume"
        raise UserError("the run was interrupted", again) from end
    finally:
        if threading.current_thread() is threading.main_thread():
            signal.signal(signal.SIGINT, interrupt)
    with result.checkpoint.as_directory() as kept:
        _collect(Path(kept), job.run.out)
    return job.run.out


def begun(storage: str) -> bool:
    """Whether a run has left its place in this storage."""
    return mended(f"{storage}/{NAME}")


def require_room(workers: int, cpus: float, gpus: float) -> None:
    """Say at once what Ray would wait for without a word."""
    there = ray.cluster_resources()
    for name, needed in (("CPU", workers * cpus), ("GPU", workers * gpus)):
        if there.get(name, 0.0) < needed:
            raise UserError(
                f"{workers} workers need {needed:g} {name}s, this Ray cluster has {there.get(name, 0.0):g}",
                "use fewer --workers, or add nodes to the cluster",
            )


def _collect(kept: Path, out: Path) -> None:
    from train.metrics import write_metrics

    out.mkdir(parents=True, exist_ok=True)
    shutil.copytree(kept / "adapter", out / "adapter", dirs_exist_ok=True)
    for name in FILES:
        if (kept / name).is_file():
            shutil.copyfile(kept / name, out / name)
    write_metrics(out / "metrics.jsonl", out / "metrics.parquet")
