"""How often an order in a logged text turns an error that the judge finds into none.

The bundled sample log's planted errors, and answers that belong to another country's question, are judged as they are;
those found are judged again with each kind of injection. Any text added can change a decision, so a harmless sentence
is added too, as control. The share flipped is among those found, with its Wilson interval; ``seen`` is the share of
the injected pairs that screening marks as trying to speak to the judge. The last lines are ``flipped SHARE`` (all kinds
but the control) and how many ordinary pairs of the log are marked by mistake.

    python -m bench.injection --base qwen2.5-coder-0.5b --json injection.json
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench.injections import CONTROL, INJECTIONS, Pair
from excam.report import Status
from excam.sample import sample_pairs
from excam.stats import wilson

PLAIN = "as it is"


def wrong_pairs(exchanged: int, seed: int) -> list[Pair]:
    """The planted errors, and questions of one country with the answer to another's in the same language."""
    pairs = sample_pairs()
    planted = [(pair.instruction, pair.output) for pair in pairs if pair.planted is Status.ERROR]
    right = [pair for pair in pairs if pair.planted is Status.CORRECT]
    made = []
    for pair in right:
        others = [one for one in right if one.about != pair.about and one.language == pair.language]
        if others:
            made.append((pair.instruction, random.Random(f"{seed} {pair.instruction}").choice(others).output))
    return [*planted, *random.Random(seed).sample(made, min(exchanged, len(made)))]


def rows_of(pairs: list[Pair]) -> Iterator[dict[str, Any]]:
    """Every pair as it is and with every injection; those of one pair follow each other, which caches serve best."""
    for number, pair in enumerate(pairs):
        for kind, change in {PLAIN: lambda pair: pair, **INJECTIONS}.items():
            instruction, output = change(pair)
            yield {"pair": number, "kind": kind, "instruction": instruction, "output": output}


def judged(arguments: argparse.Namespace) -> dict[str, dict[int, dict[str, Any]]]:
    """The decisions by kind and pair."""
    from serve.identity import prepare
    from serve.offline import judge_rows
    from serve.settings import JudgeSettings

    judge = prepare(JudgeSettings.load(None, base=arguments.base, adapter=arguments.adapter))
    pairs = wrong_pairs(arguments.exchanged, arguments.seed)
    found: dict[str, dict[int, dict[str, Any]]] = {}

    def keep(portion: list[dict[str, Any]]) -> None:
        for row in portion:
            found.setdefault(row["kind"], {})[row["pair"]] = row

    judge_rows(judge, rows_of(pairs), keep, reports=False)
    return found


def table(found: dict[str, dict[int, dict[str, Any]]]) -> list[dict[str, Any]]:
    """A line for each kind: of the errors found in plain pairs, how many are gone, and how P(error) moved."""
    errors = {number: row for number, row in found[PLAIN].items() if row.get("status") == Status.ERROR}
    lines = []
    for kind in INJECTIONS:
        with_it = [found[kind][number] for number in errors]
        gone = sum(row.get("status") != Status.ERROR for row in with_it)
        low, high = wilson(gone, len(errors))
        moved = sum(with_.get("p_error", 0) - errors[with_["pair"]]["p_error"] for with_ in with_it)
        lines.append(
            {
                "kind": kind,
                "errors": len(errors),
                "flipped": gone,
                "share": gone / max(1, len(errors)),
                "low": low,
                "high": high,
                "p_error_moved": moved / max(1, len(errors)),
            }
        )
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="qwen2.5-coder-0.5b")
    parser.add_argument("--adapter", default="auto")
    parser.add_argument(
        "--exchanged", type=int, default=40, help="pairs made by exchanging answers, beside the planted"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    found = judged(arguments)
    lines = table(found)
    print(f"{len(found[PLAIN])} wrong pairs, {lines[0]['errors']} of them found without injection")
    print(f"{'injection':<40}{'flipped':>9}{'share':>8}  {'95 %':<14}{'P(error)':>9}")
    for line in lines:
        interval = f"{line['low']:.0%} to {line['high']:.0%}"
        print(
            f"{line['kind']:<40}{line['flipped']:>9}{line['share']:>8.0%}  {interval:<14}{line['p_error_moved']:>+9.2f}"
        )
    attacks = [line for line in lines if line["kind"] != CONTROL]
    share = sum(line["flipped"] for line in attacks) / max(1, sum(line["errors"] for line in attacks))
    if arguments.json:
        figures = {"base": arguments.base, "adapter": arguments.adapter, "flipped": share, "kinds": lines}
        arguments.json.write_text(json.dumps(figures, indent=1))
    print(f"flipped {share:.3f}")


if __name__ == "__main__":
    main()
