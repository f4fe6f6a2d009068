"""``excam evaluate compare|out-of-domain``: hold judged files against each other."""

from __future__ import annotations

import math
from dataclasses import asdict
from pathlib import Path

import click

from excam.cli.options import json_option
from excam.cli.output import print_json, print_table
from excam.cli.paths import LocalPath
from excam.fault import UserError

FILE = LocalPath()


@click.command()
@click.argument("a", type=FILE)
@click.argument("b", type=FILE)
@click.option("--permutations", type=click.IntRange(100), default=1000, show_default=True)
@json_option
def compare(a: Path, b: Path, permutations: int, as_json: bool) -> None:
    """Is judge A better than judge B? Two judged files of one split, a paired permutation test over whole items."""
    from excam.evaluation.compare import compare as ask
    from excam.evaluation.judged import Judged

    found = ask(Judged.read(a), Judged.read(b), permutations)
    if not found:
        raise UserError(
            "the samples both judged hold no difference that can be measured: it takes pairs with and without an error",
            "judge more of the split with both",
        )
    if as_json:
        print_json([{k: None if v != v else v for k, v in asdict(one).items()} for one in found])
        return
    rows: list[list[object]] = [
        [one.measure, one.slice, f"{one.n:,}", f"{one.a:.3f}", f"{one.b:.3f}", f"{one.difference:+.3f}",
         None if math.isnan(one.low) else f"{one.low:+.3f} – {one.high:+.3f}", f"{one.p_value:.3f}"]
        for one in found
    ]  # fmt: skip
    columns = ("measure", "on", "n", "A", "B", "A - B", "95 %", "p")
    print_table(columns, rows, right=("n", "A", "B", "A - B", "p"), whole=("measure", "on", "95 %"))


@click.command("out-of-domain")
@click.argument("files", type=FILE, nargs=-1, required=True)
@click.option("--against", type=FILE, multiple=True, help="A judge to hold them against, on the same split.")
@click.option("--in-domain", type=FILE, help="The judge trained on every source, for the column ALL (ID).")
@click.option("--out", type=LocalPath(dir_okay=False), help="Also write the Markdown to this file.")
def out_of_domain(files: tuple[Path, ...], against: tuple[Path, ...], in_domain: Path | None, out: Path | None) -> None:
    """The table behind the paper's Figure 3, from runs with --leave-one-out: FILES are their judged files."""
    from excam.evaluation.judged import Judged
    from excam.evaluation.markdown import render_out_of_domain
    from excam.evaluation.out_of_domain import in_domain as of_all
    from excam.evaluation.out_of_domain import out_of_domain as columns_of

    others: list[Judged] = [Judged.read(path) for path in against]
    columns = columns_of([Judged.read(path) for path in files], others)
    whole = of_all(Judged.read(in_domain)) if in_domain else None
    text = render_out_of_domain(columns, "left out in training", [one.run.judge for one in others], whole)
    if out:
        out.write_text(text, "utf-8")
    click.echo(text)
