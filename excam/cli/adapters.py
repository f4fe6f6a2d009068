"""``excam adapters``: which adapters there are, what is known of one, getting one and publishing one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from excam.cli.aside import aside
from excam.cli.paths import LocalPath

if TYPE_CHECKING:
    from excam.calibration import Calibration
    from excam.models.adapter_card import Card

FOLDER = LocalPath(file_okay=False, exists=True)
COLUMNS = ("name", "version", "base", "rank", "created", "dev", "where")


@click.group()
def adapters() -> None:
    """Adapters: list them, see what is known of one, pull one, publish one."""


@adapters.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def list_adapters(as_json: bool) -> None:
    """List the adapters that a name finds: those installed and those shipped with the code."""
    from excam.cli.output import print_json, print_table
    from excam.models.adapters import installed

    rows = [_facts(folder, card) for folder, card in installed()]
    if as_json:
        print_json(rows)
        return
    shown = [{**row, "dev": "" if row["dev"] is None else f"{row['dev']:.3f}"} for row in rows]
    print_table(
        COLUMNS,
        [[row[column] for column in COLUMNS] for row in shown],
        right=("rank", "dev"),
        whole=("name", "version", "created"),
    )
    if not rows:
        aside("no adapter is installed: judges are untuned")


@adapters.command()
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for machines.")
def info(name: str, as_json: bool) -> None:
    """Show what is known of the adapter NAME (NAME@VERSION, or a folder), its files checked against its card."""
    from excam.cli.output import print_json
    from excam.cli.printable import printable
    from excam.models import resolve_adapter

    found = resolve_adapter(name)
    if as_json:
        print_json({"path": str(found.path), **found.card.model_dump(mode="json")})
        return
    card = found.card
    lines: list[tuple[str, Any]] = [
        ("adapter", f"{card.name}@{card.version}"),
        ("base", f"{card.base.name} (sha256 {card.base.sha256[:16]}…)"),
        ("rank", card.rank),
        ("created", f"{card.created:%Y-%m-%d %H:%M}"),
        ("dataset", card.dataset),
        ("sha256", card.sha256),
        ("path", found.path),
        *((f"dev {key}", f"{value:.4g}") for key, value in card.metrics.items()),
        ("calibration", _told(card.calibration)),
        *([("note", card.note)] if card.note else []),
    ]
    width = max(len(key) for key, _ in lines)
    for key, value in lines:
        click.echo(f"{printable(key):<{width}}  {printable(str(value))}")


@adapters.command()
@click.argument("source")
@click.option("--sha256", help="Refuse weights with another hash.")
def pull(source: str, sha256: str | None) -> None:
    """Install the adapter at SOURCE: a folder, a .tar or .tar.gz file, or a URL (https, s3, …) of either."""
    from excam.cli.printable import printable
    from excam.models.pull import pull as bring

    found = bring(source, sha256=sha256)
    click.echo(printable(f"{found.name}@{found.version} for {found.base.name} is in {found.path}"))


@adapters.command()
@click.argument("folder", type=FOLDER)
@click.option("--name", required=True, help="Lower-case letters, digits, dots and dashes.")
@click.option("--version", required=True, help="Numbers with dots; the highest is the newest.")
@click.option("--to", type=LocalPath(file_okay=False), help="Where adapters lie [default: the cache].")
@click.option("--base", help="Base model it was trained on [default: the one its configuration names].")
@click.option("--verify", type=click.IntRange(0), default=100, show_default=True, help="Pairs to compare; 0: none.")
@click.option("--data", type=FOLDER, help="Folder with the dataset, for the pairs to compare.")
@click.option("--calibration", type=LocalPath(dir_okay=False), help="From `excam judge calibrate`.")
@click.option("--note", help="What a user must know before relying on it.")
def publish(
    folder: Path,
    name: str,
    version: str,
    to: Path | None,
    base: str | None,
    verify: int,
    data: Path | None,
    calibration: Path | None,
    note: str | None,
) -> None:
    """Publish the adapter in FOLDER: verify it as it will be served, write its card, make its files read-only."""
    from excam.calibrate import read_calibration
    from excam.fault import UserError
    from excam.models import resolve
    from excam.models.adapter_card import check_name, read_config, require_files
    from excam.models.cache import cache_root
    from train.publish import publish as seal
    from train.publish import rows_to_verify

    check_name(name, version)
    require_files(folder)
    if verify and data is None:
        raise UserError("verifying needs pairs", "give --data DIR (or --verify 0, and say so to whoever uses it)")
    read = read_calibration(calibration) if calibration else None
    rows = rows_to_verify(data / "dev.parquet", verify) if data and verify else []
    named = base or read_config(folder).get("base_model_name_or_path")
    if not isinstance(named, str):
        raise UserError(f"the configuration in {folder} names no base model", "say which it was trained on with --base")
    found = resolve(named)
    home = to or cache_root() / "adapters"
    made, agreement = seal(
        folder, name=name, version=version, home=home, base=found, rows=rows, calibration=read, note=note
    )
    if agreement:
        click.echo(f"served as trained: {agreement.same:.1%} of {len(rows)} decisions the same, ", nl=False)
        click.echo(f"P(error) apart by {agreement.apart:.4f} on average")
        for line in agreement.differences():
            click.echo(f"  {line}")
    else:
        aside("NOT verified: nobody has seen this adapter decide as it did in training")
    click.echo(f"{made.name}@{made.version} is published in {made.path}")


def _facts(folder: Path, card: Card) -> dict[str, Any]:
    import train

    shipped = any(folder.is_relative_to(Path(place).resolve()) for place in train.__path__)
    return {
        "name": card.name,
        "version": card.version,
        "base": card.base.name,
        "rank": card.rank,
        "created": f"{card.created:%Y-%m-%d}",
        "dev": card.metrics.get("scaled_accuracy"),
        "where": "shipped" if shipped else "installed",
        "path": str(folder),
    }


def _told(calibration: Calibration | None) -> str:
    if calibration is None:
        return "none: P(error) is the raw probability, the threshold 0.5"
    before, after = calibration.ece_before, calibration.ece_after
    return f"{calibration.method}, ECE {before:.3f} → {after:.3f}, threshold {calibration.threshold:.4f}"
