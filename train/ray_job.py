"""Training as a Ray Train job: the one loop on one worker or many, taken up again where a dead worker left it."""

from __future__ import annotations

import shutil
import signal
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import ray
import torch
from ray.exceptions import RayActorError
from ray.train import CheckpointConfig, FailureConfig, RunConfig, ScalingConfig, TrainingFailedError, WorkerGroupError
from ray.train.torch import TorchConfig, TorchTrainer
from ray.train.v2._internal.callbacks.placement_group_callback import PlacementGroupCleanerCallback

from excam.fault import UserError
from train.board import Board, Failures, Say, listening, why
from train.examples import Examples
from train.snapshot import Spares, mended
from train.storage import NAME, Folder
from train.terms import hold_to, terms_of
from train.worker import Job, work

FILES = ("result.json", "dev-decisions.npz", "reports.json", "metrics.jsonl")
PATIENCE_S = 1800  # how long workers wait for the first one while it measures on dev


class JobTrainer(TorchTrainer):  # type: ignore[misc]
    """Ray Train without its actor that frees a job's resources when the job's controller has died.

    That one asks Ray's dashboard whether the controller lives. Of a cluster that has none, another cluster's dashboard
    may answer: it knows of no such job, and all workers are ended in the middle of it. What the actor would free
    goes with the job anyway, and the job with the command that began it.
    """

    def _create_default_callbacks(self) -> list[Any]:
        found = super()._create_default_callbacks()
        return [callback for callback in found if not isinstance(callback, PlacementGroupCleanerCallback)]


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
    kept = Folder(job.storage, NAME)
    hold_to(terms, kept, begun=mended(kept))
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
            callbacks=[Failures(board), Spares(kept)],
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
    with result.checkpoint.as_directory() as last:
        _collect(Path(last), job.run.out)
    return job.run.out


def begun(storage: str) -> bool:
    """Whether a run has left its place in this storage."""
    return mended(Folder(storage, NAME))


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
