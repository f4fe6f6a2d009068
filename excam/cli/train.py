"""``excam train``: train an adapter with Ray Train, on this machine or on a cluster."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from excam.cli.alone import alone_in
from excam.cli.aside import aside
from excam.cli.numbers import Within
from excam.cli.paths import LocalPath
from excam.cli.printable import shortened
from excam.fault import UserError

if TYPE_CHECKING:
    from excam.models import BaseModel

FOLDER = LocalPath(file_okay=False)
PARTS = ("decision", "ranking", "report", "notes")
"""The parts of the loss that a line of progress tells."""


@click.command()
@click.option("--base", required=True, help="Base model: a name from `excam models list`, a folder, or a hub id.")
@click.option("--data", type=FOLDER, required=True, help="Folder that `excam dataset build --out` wrote.")
@click.option("--out", type=FOLDER, required=True, help="Folder for the adapter, its figures and the metrics.")
@click.option("--recipe", help="A recipe's name or YAML file [default: the one named like the base].")
@click.option("--set", "changes", multiple=True, metavar="FIELD=VALUE", help="Change one value of the recipe.")
@click.option("--workers", type=click.IntRange(1), default=1, show_default=True, help="Workers that share the work.")
@click.option("--gpus-per-worker", type=Within(0), help="[default: 1 where the cluster has GPUs, else 0]")
@click.option("--from", "begin", multiple=True, help="Adapter to begin with, by name or folder; of several the mean.")
@click.option("--minutes", type=Within(0, min_open=True), help="End then, the learning rate fitted to it.")
@click.option("--steps", type=click.IntRange(0), help="At most so many steps; 0 measures the mean of --from.")
@click.option("--without", multiple=True, metavar="SOURCE", help="Leave a source out of the training data.")
@click.option("--share", type=Within(0, 1, min_open=True), default=1.0, help="Of the questions to train on.")
@click.option("--resume", is_flag=True, help="Go on with the run that OUT holds.")
@click.option("--storage", help="Where checkpoints are kept: on a cluster a folder or URL all nodes reach [OUT].")
@click.option("--save-every", type=click.IntRange(1), default=100, show_default=True, help="Steps from save to save.")
@click.option("--say-every", type=click.IntRange(1), default=10, show_default=True, help="Steps from line to line.")
@click.option("--dev-sample", type=click.IntRange(1), default=1000, show_default=True, help="Dev pairs that are asked.")
@click.option("--reports", type=click.IntRange(0), default=50, show_default=True, help="Reports to write at the end.")
def train(
    base: str,
    data: Path,
    out: Path,
    recipe: str | None,
    changes: tuple[str, ...],
    workers: int,
    gpus_per_worker: float | None,
    begin: tuple[str, ...],
    without: tuple[str, ...],
    share: float,
    resume: bool,
    storage: str | None,
    reports: int,
    **options: Any,
) -> None:
    """Train an adapter for a base model on ExCAM40k; it lands in OUT/adapter, ready for `excam adapters publish`."""
    import ray

    from excam.models import resolve
    from excam.place import refuse_password
    from serve.start import start_ray
    from train.adapter import mean_update
    from train.loop import Run
    from train.ray_job import begun, fit, require_room
    from train.recipe import Recipe, read_changes
    from train.selection import select
    from train.tokens import tokens
    from train.worker import Job

    refuse_password(storage or "")
    run = Run(out, max_steps=options.pop("steps"), without=without, share=share, begin=begin, **options)
    chosen = Recipe.load(recipe or Path(base).name, **read_changes(changes))
    kept = storage if storage and "://" in storage else str(Path(storage or out).resolve())
    for folder in {out.resolve(), *([] if "://" in kept else [Path(kept)])}:
        click.get_current_context().with_resource(alone_in(folder))
    _check_place(kept, resume, begun(kept))
    found = resolve(base)
    update = mean_update([_adapter(name, found) for name in begin]) if begin else None
    aside(f"tokens of {data} for {found.name}")
    learnt = tokens(data / "train.parquet", found, chosen, out / "tokens")
    dev = tokens(data / "dev.parquet", found, chosen, out / "tokens")
    start_ray()
    there = ray.cluster_resources()
    gpus = float(there.get("GPU", 0) > 0) if gpus_per_worker is None else gpus_per_worker
    cpus = 1.0 if gpus else max(1.0, there.get("CPU", 1.0) // workers)
    require_room(workers, cpus, gpus)
    job = Job(
        base=str(found.path) if Path(base).is_dir() else base,
        base_sha256=found.sha256,
        recipe=chosen,
        run=run,
        storage=kept,
        workers=workers,
        cpus_per_worker=cpus,
        gpus_per_worker=gpus,
        reports=reports,
    )
    fit(job, select(learnt, without, share, chosen.source_weight), dev, say, update)
    ray.shutdown()
    result = json.loads((out / "result.json").read_text("utf-8"))
    say({"step": result["place"]["step"], "dev": result["dev"]})
    click.echo(f"adapter: {out / 'adapter'} ({result['bytes']:,} bytes); metrics: {out / 'metrics.parquet'}")


def _adapter(name: str, base: BaseModel) -> Path:
    """The folder of an adapter to begin with: one that training wrote or a published one, if it belongs to the base."""
    from excam.models import resolve_adapter
    from excam.models.adapter_card import CARD
    from train.adapter import check_trained_on

    if Path(name).is_dir() and not (Path(name) / CARD).is_file():
        check_trained_on(Path(name), base)
        return Path(name)
    published = resolve_adapter(name)
    published.check_base(base)
    return published.path


def say(facts: Mapping[str, Any]) -> None:
    """One line of progress on stderr: how far, how well, how fast; on dev the figures a judge is chosen by."""
    step = f"step {facts['step']}" if "step" in facts else ""
    if "event" in facts and "dev" not in facts:
        why = f": {shortened(facts['why'], 300)}" if "why" in facts else ""
        line = f"{step}  worker {facts.get('rank', 0)} {facts['event']}{why}".lstrip()
    elif "dev" in facts:
        dev = facts["dev"]
        line = f"{step}  dev: scaled accuracy {dev['scaled_accuracy']:.3f}, AUC {dev['auc']:.3f}"
        line += f", false alarms {dev['false_alarms']:.1%}" + (f" ({facts['event']})" if "event" in facts else "")
    elif "steps" in facts:
        line = f"{step} of {facts['steps']}, {facts['examples']:,} examples"
    else:
        losses = ", ".join(f"{part} {facts[part]:.3f}" for part in PARTS if part in facts)
        line = f"{step}  {facts['progress']:.0%}  loss: {losses}  {facts['tokens_per_second']:,} tokens/s"
        line += f"  {facts['skipped']} steps without a finite gradient left out" if facts.get("skipped") else ""
    aside(line)


def _check_place(storage: str, resume: bool, held: bool) -> None:
    if held and not resume:
        raise UserError(f"{storage} holds a run", "go on with it by --resume, or choose another folder")
    if resume and not held:
        raise UserError(f"{storage} holds no run to go on with", "leave --resume away to begin one")
