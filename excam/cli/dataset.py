"""`excam dataset`: build the dataset, look at it, check it for leaks, add soft errors, have people review it."""

from __future__ import annotations

import os
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from excam.cli.alone import alone_in
from excam.cli.aside import aside
from excam.cli.dataset_review import review
from excam.cli.from_reviews import from_reviews
from excam.cli.numbers import Within
from excam.cli.paths import LocalPath

if TYPE_CHECKING:
    from excam.dataset.gather import Gathered

FOLDER = LocalPath(file_okay=False)
FILE = LocalPath()


@click.group()
def dataset() -> None:
    """ExCAM40k: the pairs a judge is trained and measured on."""


@dataset.command()
@click.option(
    "--sources", type=FOLDER, required=True, help="One folder a source; docs/dataset-sources.md says how to get them."
)
@click.option("--out", type=FOLDER, required=True, help="Where train, dev and test, the card and build.json go.")
@click.option("--profile", type=click.Choice(["full", "paper"]), default="full", show_default=True)
@click.option("--seed", type=int, default=0, show_default=True)
@click.option(
    "--wordings", type=click.IntRange(1), default=1, show_default=True, help="Ways to put each twin of train."
)
@click.option(
    "--apart",
    "similar",
    type=Within(0.5, 1),
    default=0.7,
    show_default=True,
    help="Questions as alike as this (Jaccard) stay in one split; 1: the same question alone.",
)
@click.option(
    "--wrong-answers",
    type=click.Choice(["balanced", "natural"]),
    default="balanced",
    show_default=True,
    help="Balanced: each answer is wrong as often as right; natural: at random, as the paper does, an easier test.",
)
@click.option("--atlas", is_flag=True, help="Add the atlas to train: questions and answers by a language model.")
@click.option("--soft", type=FILE, multiple=True, help="Soft errors that `excam dataset soft` wrote; may be repeated.")
def build(
    sources: Path,
    out: Path,
    profile: str,
    seed: int,
    wordings: int,
    similar: float,
    wrong_answers: str,
    atlas: bool,
    soft: tuple[Path, ...],
) -> None:
    """Build the dataset from the sources that are at hand, and name those that are not."""
    from excam.dataset.atlas import FACTS
    from excam.dataset.build import build as run
    from excam.dataset.profile import PROFILES
    from excam.dataset.soft_file import read_soft

    rows = [row for path in soft for row in read_soft(path)]
    chosen = replace(
        PROFILES[profile],
        wordings=wordings,
        similar=similar,
        natural=wrong_answers == "natural",
        atlas=FACTS if atlas else None,
    )
    with alone_in(out):
        account = run(sources, out, chosen, seed, rows).account
    _tell_missing(account.gathered)
    for (split,), count in sorted(account.tally.by("split").items()):
        click.echo(f"{split}: {count:,} samples")
    strays = sum(count for (_, _, outcome), count in account.soft.items() if outcome == "no_such_item")
    if strays:
        aside(f"{strays:,} soft errors are of items that this build does not hold")
    left_out, unused = sum(account.gathered.bad.values()), sum(account.unused().values())
    click.echo(f"{left_out:,} records left out, {unused:,} items unused; {out / 'card.md'} says why")


def _tell_missing(gathered: Gathered) -> None:
    from excam.dataset.sources import SOURCES

    for name in gathered.missing:
        aside(f"missing: {name}. {SOURCES[name].get_it}")
    for doubt in gathered.doubts():
        aside(f"look at {doubt}")


@dataset.command()
@click.argument("folder", type=FOLDER)
def card(folder: Path) -> None:
    """Show the data card of a build."""
    from rich.console import Console
    from rich.markdown import Markdown

    from excam.fault import UserError

    path = folder / "card.md"
    if not path.is_file():
        raise UserError(f"there is no {path}", "name the folder that `excam dataset build --out` wrote")
    Console().print(Markdown(path.read_text("utf-8")))


@dataset.command()
@click.argument("folder", type=FOLDER)
def leak(folder: Path) -> None:
    """Train bags of words on a build; they must not tell errors from correct pairs (needs scikit-learn)."""
    from excam.dataset.leak import NEAR_RANDOM, check

    for found in check(folder):
        mark = "" if found.near_random else f"  above {NEAR_RANDOM}"
        click.echo(f"{found.source:<16} {found.view:<22} {found.accuracy:.3f}  ({found.test:,} samples){mark}")


@dataset.command()
@click.option("--sources", type=FOLDER, required=True, help="One folder a source.")
@click.option("--out", type=FOLDER, required=True, help="Folder of results; a run that was stopped goes on.")
@click.option("--endpoint", help="An OpenAI-compatible server, up to and with /v1.")
@click.option(
    "--model", required=True, help="The model's name at the endpoint, or its weights for vLLM in this process."
)
@click.option("--source", "names", multiple=True, default=("mango", "nativqa", "normad", "calmqa"), show_default=True)
@click.option("--limit", type=click.IntRange(1), help="At most so many items; each is tried once minor and once major.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--chunk", type=click.IntRange(1), default=64, show_default=True, help="Items per result file.")
def soft(
    sources: Path,
    out: Path,
    endpoint: str | None,
    model: str,
    names: tuple[str, ...],
    limit: int | None,
    seed: int,
    chunk: int,
) -> None:
    """Have a language model write soft errors; the key of the endpoint is read from EXCAM_API_KEY."""
    from excam.dataset.gather import gather
    from excam.dataset.generator import Generator, HttpGenerator, VllmGenerator
    from excam.dataset.mend import mend
    from excam.dataset.soft_file import make_soft, pending, read_soft, write_soft
    from excam.dataset.sources import SOURCES
    from excam.fault import UserError

    if unknown := [name for name in names if name not in SOURCES]:
        raise UserError(f"there is no source {unknown[0]!r}", f"take some of {', '.join(SOURCES)} with --source")
    click.get_current_context().with_resource(alone_in(out))
    gathered = gather(sources, {name: SOURCES[name] for name in names})
    _tell_missing(gathered)
    items = [mend(item) for item in gathered.items if item.cultural]
    generator: Generator
    if endpoint:
        generator = HttpGenerator(endpoint, model, os.environ.get("EXCAM_API_KEY"))
    else:
        generator = VllmGenerator(model)
    left = pending(items, read_soft(out), generator.name, limit, seed)
    if not left:
        click.echo(f"nothing to do: {generator.name} was asked about all {len(items):,} items")
    tried = 0
    for start in range(0, len(left), chunk):
        rows = list(make_soft(left[start : start + chunk], generator, seed))
        path = write_soft(out, rows)
        tried += len({row.item_id for row in rows})
        click.echo(f"{path.name}: {sum(row.outcome == 'valid' for row in rows)} valid of {len(rows)} tries")
    if tried < len(left):
        aside(f"{generator.name} did not come to {len(left) - tried:,} items: run the command again")


dataset.add_command(review)
dataset.add_command(from_reviews)
