"""``excam dataset from-reviews``: what readers said about reports, as training samples."""

from __future__ import annotations

from pathlib import Path

import click

from excam.cli.options import store_option
from excam.cli.paths import LocalPath


@click.command("from-reviews")
@store_option
@click.option("--out", type=LocalPath(dir_okay=False), required=True, help="Parquet file to write.")
def from_reviews(store: str, out: Path) -> None:
    """Write reviewed pairs as training samples: confirmed reports, and false alarms as correct pairs."""
    import pyarrow.parquet as pq

    from excam.dataset.from_reviews import samples_of
    from excam.dataset.sample import to_table
    from excam.fault import UserError
    from excam.store import Store
    from excam.store.reviews import reviewed_pairs

    if not out.parent.is_dir():
        raise UserError(f"there is no folder {out.parent}", "create it, or name another file")
    with Store.open(store, read_only=True) as opened:
        made, left_out = samples_of(opened.query(reviewed_pairs).to_pylist())
    pq.write_table(to_table(made), out, compression="zstd")
    click.echo(f"{len(made):,} samples written to {out}")
    for reason, count in left_out.most_common():
        click.echo(f"{count:,} left out: {reason}")
