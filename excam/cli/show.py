"""``excam show``: one pair, what was found in it, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from rich.text import Text

from excam.cli.marked import STYLES, Mark, marked
from excam.cli.options import json_option, store_option
from excam.cli.output import console, moment, print_json
from excam.cli.printable import printable

if TYPE_CHECKING:
    from excam.store.queries import JudgeUse, ShownPair, ShownVerdict


@click.command()
@click.argument("pair_id")
@click.option("--judge", metavar="VERSION", help="Judge version, or the beginning of one. Default: the latest verdict.")
@store_option
@json_option
def show(pair_id: str, judge: str | None, store: str, as_json: bool) -> None:
    """Show the pair PAIR_ID with its errors marked in the text, and the explanation of each.

    Control characters and text direction marks in logged text are written out as escapes, so that nothing in a log can
    act on your terminal.
    """
    from excam.fault import UserError
    from excam.store import Store
    from excam.store.queries import pick_judge, show_pair

    with Store.open(store, read_only=True) as opened:
        pair = opened.query(show_pair, pair_id)
        wanted = opened.query(pick_judge, judge).judge_version if judge else None
        verdicts = [verdict for verdict in pair.verdicts if wanted in (None, verdict.judge_version)]
        if not verdicts:
            raise UserError(f"judge {wanted} has not judged this pair", "leave --judge out to see who has")
        named = opened.query(pick_judge, verdicts[0].judge_version)
    if as_json:
        print_json(pair.model_copy(update={"verdicts": verdicts}).model_dump(mode="json"))
        return
    _print(pair, verdicts[0], named)
    if len(verdicts) > 1:
        others = ", ".join(f"{verdict.judge_version} ({verdict.status})" for verdict in verdicts[1:])
        console().print(Text(f"also judged by {others}", style="dim"), soft_wrap=True)


def _print(pair: ShownPair, verdict: ShownVerdict, judge: JudgeUse) -> None:
    out = console()
    countries = ", ".join(pair.countries or []) or pair.country or "no country"
    facts = [countries, pair.language, pair.app, pair.model, moment(pair.logged_at)]
    out.print(Text(printable(f"pair {pair.pair_id}"), style="bold"), soft_wrap=True)
    out.print(Text(printable(" · ".join(fact for fact in facts if fact)), style="dim"), soft_wrap=True)
    out.print(Text(printable(judge.title), style="yellow" if judge.tuned is False else "dim"), soft_wrap=True)
    for half in ("instruction", "output"):
        marks = [
            Mark(number, error.start, error.end, error.severity)
            for number, error in enumerate(verdict.errors, start=1)
            if error.location == half and error.start is not None and error.end is not None
        ]
        out.print(Text(f"\n{half}", style="bold"))
        out.print(marked(getattr(pair, half), marks), soft_wrap=True)
    out.print(Text(f"\n{_outcome(verdict)}", style="bold"), soft_wrap=True)
    for number, error in enumerate(verdict.errors, start=1):
        where = f"in the {error.location}" if (error.start or 0) >= 0 else f"not found in the {error.location}"
        head = f"{number}. {error.severity}: {error.type}"
        category = f" [{error.category}]" if error.category and error.category != error.type else ""
        out.print(Text(printable(head + category), style=STYLES.get(error.severity, "bold")), soft_wrap=True)
        out.print(Text(printable(f"   “{error.span}” ({where})")), soft_wrap=True)
        out.print(Text(printable(f"   {error.explanation}")), soft_wrap=True)


def _outcome(verdict: ShownVerdict) -> str:
    said = {"error": "cultural errors", "correct": "no cultural error", "not_applicable": "not about culture"}
    numbers = [("score", verdict.score), ("P(error)", verdict.p_error)]
    facts = [f"{name} {value:.3g}" for name, value in numbers if value is not None]
    flags = {
        "gated": "settled by the relevance gate",
        "reused": "taken from the same text judged before",
        "guided": "written under a grammar, because the free report could not be parsed",
        "truncated": "judged on a shortened text",
    }
    facts += [text for name, text in flags.items() if getattr(verdict, name)]
    return f"{said.get(verdict.status, verdict.status)} ({'; '.join(facts)})" if facts else said[verdict.status]
