"""`excam dataset review`: people say of error samples whether they are errors, and the votes are counted."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from excam.cli.paths import LocalPath

if TYPE_CHECKING:
    from excam.dataset.review import Ballot
    from excam.dataset.sample import Sample

FOLDER = LocalPath(file_okay=False)
FILE = LocalPath()


@click.command()
@click.argument("data", type=FILE)
@click.option("--votes", type=FOLDER, required=True, help="Folder of votes, one file a reviewer.")
@click.option("--reviewer", help="Who is voting; a name you will use again to go on.")
@click.option("--count", type=click.IntRange(1), default=100, show_default=True)
@click.option("--origin", type=click.Choice(["hard", "soft-llm", "soft-rule"]))
@click.option("--seed", type=int, default=0, show_default=True)
@click.option("--report", is_flag=True, help="Print how the votes are spread instead of asking.")
@click.option(
    "--voters", type=click.IntRange(1), default=3, show_default=True, help="Votes a sample needs to be in the report."
)
def review(
    data: Path, votes: Path, reviewer: str | None, count: int, origin: str | None, seed: int, report: bool, voters: int
) -> None:
    """Show error samples of DATA (a Parquet file of a build) one by one and record what a person says about them."""
    from excam.dataset.review import Ballot, distribution, pick_samples, read_votes
    from excam.fault import UserError

    if report:
        shares_of = distribution(read_votes(votes), voters)
        if not any(map(any, shares_of.values())):
            raise UserError(
                f"no sample in {votes} has {voters} votes", "have more people review it, or give another --voters"
            )
        heads = "  ".join(f"{yes}/{voters}".rjust(6) for yes in range(voters, -1, -1))
        click.echo(f"{'criterion':<24}{heads}")
        for name, shares in shares_of.items():
            click.echo(f"{name:<24}" + "  ".join(f"{share:6.1f}" for share in shares))
        return
    if not reviewer:
        raise UserError("nobody is named as the reviewer", "name yourself with --reviewer")
    ballot = Ballot(votes, reviewer)
    left = [sample for sample in pick_samples(data, count, seed, origin) if sample.sample_id not in ballot.done()]
    for place, sample in enumerate(left, start=1):
        if not _ask(ballot, sample, f"{place} of {len(left)}"):
            break
    click.echo(f"{len(ballot.done())} votes by {reviewer}")


def _ask(ballot: Ballot, sample: Sample, title: str) -> bool:
    """Show one sample and record the vote; False when the reviewer wants to stop."""
    from rich.panel import Panel
    from rich.text import Text

    from excam.cli.output import console
    from excam.cli.printable import printable
    from excam.dataset.review import Valid, Vote
    from excam.report import ErrorReport

    out = console()
    report = ErrorReport.model_validate_json(sample.report)
    out.rule(printable(f"{title} · {sample.source} · {sample.country or 'no country'} · {sample.language}"))
    for half in ("instruction", "output"):
        text = Text(printable(getattr(sample, half), lines=True))
        for error in report.errors or ():
            if error.location == half:
                text.highlight_words([printable(error.span, lines=True)], "bold red")
        out.print(Panel(text, title=half))
    for error in report.errors or ():
        out.print(Text(printable(f"{error.severity} · {error.type} · {error.span}: {error.explanation}")))
    valid = {"v": Valid.YES, "p": Valid.PARTIAL, "n": Valid.NO}
    first = click.prompt(
        "About culture? (y/n, s skips, q stops)", type=click.Choice(["y", "n", "s", "q"]), show_choices=False
    )
    if first in "sq":
        return bool(first == "s")
    error_valid = click.prompt(
        "Is the error one? (v valid, p partly, n not)", type=click.Choice(list(valid)), show_choices=False
    )
    explained = click.prompt("Is the explanation right? (v, p, n)", type=click.Choice(list(valid)), show_choices=False)
    agreed = click.confirm("Does the severity fit?")
    ballot.add(Vote(sample.sample_id, ballot.reviewer, first == "y", valid[error_valid], valid[explained], agreed))
    return True
