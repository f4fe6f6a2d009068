"""``excam plan``: how many GPUs, hours, bytes and partitions a traffic needs, and how sure that is."""

from __future__ import annotations

import click

from excam.cli.numbers import Within
from excam.cli.options import json_option
from excam.cli.output import console, print_json, print_table


@click.command()
@click.option("--pairs-per-day", required=True, type=click.IntRange(1), help="Pairs your chatbots log in a day.")
@click.option("--gpu", default="h200", show_default=True, metavar="NAME", help="h200, or cpu for none.")
@click.option("--judge-model", "model", default="qwen2.5-coder-1.5b", show_default=True, help="The judge's base model.")
@click.option(
    "--tokens-per-pair",
    default=158.0,
    show_default=True,
    type=Within(1),
    help="Tokens of a judge's prompt: instruction, output and some 40 around them. The default is the benchmark's.",
)
@click.option(
    "--cultural",
    default=1.0,
    show_default=True,
    type=Within(0, 1),
    help="Share of your pairs that is about culture; most of the others stop at the gate.",
)
@click.option(
    "--reports",
    default=0.1,
    show_default=True,
    type=Within(0, 1),
    help="Share of the judged pairs that gets a whole report written: those with an error.",
)
@click.option("--hours", default=6.0, show_default=True, type=Within(0.1, 24), help="How long a night is.")
@click.option("--peak", default=3.0, show_default=True, type=Within(1), help="Peak of the live traffic.")
@click.option("--pairs-per-second", type=Within(0, min_open=True), help="Your own measurement of a replica.")
@json_option
def plan(gpu: str, as_json: bool, **asked: float) -> None:
    """Size the judge, the store and the topic for PAIRS a day.

    Every figure says whether it was measured, follows from something measured, or was assumed. A machine on which
    nothing was measured is refused: time your own with `python -m bench.overhead` and give --pairs-per-second.
    """
    from excam.plan import Traffic, make_plan

    made = make_plan(Traffic(machine=gpu.lower(), **asked))  # type: ignore[arg-type]  # click has checked the types
    if as_json:
        print_json(made.model_dump(mode="json"))
        return
    for title, rows in (("", made.needs), ("This rests on", made.rests_on)):
        if title:
            console().print(f"\n{title}")
        print_table(
            ["", "value", "", "basis", "how"],
            [[row.name, _number(row.value), row.unit, row.basis.value, row.how] for row in rows],
            right=["value"],
        )
    console().print("\n" + "\n".join(made.missing))


def _number(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 or value == int(value) else f"{value:.3g}"
