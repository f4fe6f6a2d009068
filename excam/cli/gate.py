"""``excam gate``: train the gate that keeps ordinary traffic from the judge, and measure how well it does that."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import click

from excam.cli.numbers import Within
from excam.cli.paths import LocalPath

if TYPE_CHECKING:
    from excam.relevance.evaluate import Rate

FOLDER = LocalPath(file_okay=False)
FILE = LocalPath(dir_okay=False)
COLUMNS = ("source", "pairs", "n", "right", "rate", "95 %")
DATA = click.option("--data", type=FOLDER, required=True, help="Folder that `excam dataset build --out` wrote.")


def _print(rates: Iterable[Rate]) -> None:
    from excam.cli.output import print_table

    rows = []
    for rate in rates:
        low, high = rate.interval
        kind = "cultural, pass" if rate.cultural else "ordinary, stop"
        share = f"{rate.right / rate.total:.1%}"
        rows.append((rate.source, kind, f"{rate.total:,}", f"{rate.right:,}", share, f"{low:.1%} – {high:.1%}"))
    print_table(COLUMNS, rows, right=("n", "right", "rate"), whole=COLUMNS)


@click.group()
def gate() -> None:
    """The gate: is a pair about culture at all? Asked before any GPU is spent on it."""


@gate.command()
@DATA
@click.option("--out", type=FILE, required=True, help="The model file; its SHA-256 goes beside it as .sha256.")
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--stop", type=Within(0.5, 0.99), help="Share of ordinary pairs to stop [default: 0.8].")
def train(data: Path, out: Path, seed: int, stop: float | None) -> None:
    """Train a gate on ExCAM40k and measure it on the test split and the sample log."""
    from excam.relevance.evaluate import from_sample_log, rates
    from excam.relevance.model import load
    from excam.relevance.texts import read_split
    from excam.relevance.train import STOP
    from excam.relevance.train import train as learn

    test = read_split(data / "test.parquet")
    out.parent.mkdir(parents=True, exist_ok=True)
    digest = learn(data, seed, STOP if stop is None else stop).save(out)
    out.with_suffix(".sha256").write_text(f"{digest}\n", encoding="ascii")
    trained = load(out, digest)
    click.echo(f"gate {trained.version}, {out.stat().st_size:,} bytes, threshold {trained.threshold:.3f}: {out}")
    _print([*rates(trained, test), *rates(trained, from_sample_log())[2:]])


@gate.command()
@DATA
@click.option("--model", type=FILE, help="A gate file of your own; without it the one that comes with the package.")
@click.option("--pairs", type=FILE, help="Also a Parquet file of your own, with the columns of ExCAM40k.")
@click.option("--leave-one-out", is_flag=True, help="Train anew without each source and measure on it; takes minutes.")
def evaluate(data: Path, model: Path | None, pairs: Path | None, leave_one_out: bool) -> None:
    """Show what passes and what stops, on the test split by source and on the sample log, never trained on."""
    from excam.relevance import bundled, load
    from excam.relevance.evaluate import from_sample_log, rates
    from excam.relevance.evaluate import leave_one_out as left_out
    from excam.relevance.texts import read_split
    from excam.relevance.train import examples

    chosen = load(model) if model else bundled()
    test = read_split(data / "test.parquet")
    click.echo(f"gate {chosen.version}, threshold {chosen.threshold:.3f}")
    shown = [*rates(chosen, test), *rates(chosen, from_sample_log())[2:]]
    if pairs:
        own = rates(chosen, read_split(pairs))
        shown += [rate._replace(source=f"{pairs.name}, {rate.source}") for rate in own]
    _print(shown)
    if leave_one_out:
        click.echo("\nmeasured on each source by a gate that never saw it (without words: on the sample log)")
        _print(rate for found in left_out(chosen, examples(data, 0), test) for rate in found)
