"""``excam sample``: write the bundled sample log, so that everything can be tried without a log of one's own."""

from __future__ import annotations

from pathlib import Path

import click

from excam.cli.paths import LocalPath


@click.command()
@click.argument("out", metavar="OUT.parquet", type=LocalPath(dir_okay=False))
def sample(out: Path) -> None:
    """Write the bundled sample log, hand-written pairs with planted cultural errors, to OUT.parquet."""
    from excam.sample import write_sample

    out.parent.mkdir(parents=True, exist_ok=True)
    count = write_sample(out)
    click.echo(f"{count} pairs written to {out}")
