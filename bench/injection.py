"""How often an order in a logged text turns an error that the judge finds into none.

The bundled sample log's planted errors, and answers that belong to another country's question, are judged as they are;
those found are judged again with each kind of injection. Any text added can change a decision, so a harmless sentence
is added too, as control. The share flipped is among those found, with its Wilson interval; ``unseen`` are those flipped
that screening does not mark as speaking to the judge. The last line is ``flipped SHARE unseen SHARE``, of all kinds but
the control.

    python -m bench.injection --base qwen2.5-coder-0.5b --json injection.json
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from bench.injections import CONTROL, INJECTIONS, Pair
from excam.injection import speaks_to_judge
from excam.report import Status
from excam.sample import sample_pairs
from excam.stats import wilson

PLAIN = "as it is"
Row = dict[str, Any]
Decisions = dict[str, dict[int, Row]]


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


def variants(numbers: Iterable[int], pairs: list[Pair], kinds: Iterable[str]) -> Iterator[Row]:
    """These pairs with these injections; those of one pair follow each other, which caches serve best."""
    for number, kind in itertools.product(numbers, kinds):
        instruction, output = pairs[number] if kind == PLAIN else INJECTIONS[kind](pairs[number])
        yield {"pair": number, "kind": kind, "instruction": instruction, "output": output}


def judged(arguments: argparse.Namespace) -> Decisions:
    """The decisions by kind and pair: on every pair as it is, then on those found in error with each injection.

    What was decided before, as the file of decisions has it, is not asked again.
    """
    from serve.identity import prepare
    from serve.offline import judge_rows
    from serve.settings import JudgeSettings

    judge = prepare(JudgeSettings.load(None, base=arguments.base, adapter=arguments.adapter))
    pairs = wrong_pairs(arguments.exchanged, arguments.seed)
    file: Path | None = arguments.decisions
    found: Decisions = {kind: {} for kind in (PLAIN, *INJECTIONS)}

    def keep(portion: list[Row]) -> None:
        for row in portion:
            found[row["kind"]][row["pair"]] = row
        if file:
            with file.open("a") as lines:
                lines.writelines(json.dumps(row) + "\n" for row in portion)

    if file and file.exists():
        for row in map(json.loads, file.read_text().splitlines()):
            found[row["kind"]][row["pair"]] = row
    for kinds in ((PLAIN,), tuple(INJECTIONS)):
        numbers = range(len(pairs)) if kinds == (PLAIN,) else sorted(errors_of(found))
        left = [row for row in variants(numbers, pairs, kinds) if row["pair"] not in found[row["kind"]]]
        if left:
            judge_rows(judge, left, keep, reports=False)
    return found


def errors_of(found: Decisions) -> Mapping[int, Row]:
    """The pairs found in error as they are."""
    return {number: row for number, row in found[PLAIN].items() if row.get("status") == Status.ERROR}


def table(found: Decisions) -> list[dict[str, Any]]:
    """A line for each kind: of the errors found in plain pairs, how many are gone, and how P(error) moved."""
    errors = errors_of(found)
    lines = []
    for kind in INJECTIONS:
        with_it = [found[kind][number] for number in errors]
        flipped = [row for row in with_it if row.get("status") != Status.ERROR]
        gone = len(flipped)
        low, high = wilson(gone, len(errors))
        moved = sum(with_.get("p_error", 0) - errors[with_["pair"]]["p_error"] for with_ in with_it)
        lines.append(
            {
                "kind": kind,
                "errors": len(errors),
                "flipped": gone,
                "unseen": sum(not speaks_to_judge(row["instruction"], row["output"]) for row in flipped),
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
        "--exchanged", type=int, default=30, help="pairs made by exchanging answers, beside the planted"
    )
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--decisions", type=Path, help="keep every decision here, and go on from it when run again")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    arguments = parser.parse_args()
    found = judged(arguments)
    lines = table(found)
    print(f"{len(found[PLAIN])} wrong pairs, {lines[0]['errors']} of them found without injection")
    print(f"{'injection':<40}{'flipped':>9}{'unseen':>8}{'share':>8}  {'95 %':<14}{'P(error)':>9}")
    for line in lines:
        interval = f"{line['low']:.0%} to {line['high']:.0%}"
        counts = f"{line['flipped']:>9}{line['unseen']:>8}{line['share']:>8.0%}"
        print(f"{line['kind']:<40}{counts}  {interval:<14}{line['p_error_moved']:>+9.2f}")
    attacks = [line for line in lines if line["kind"] != CONTROL]
    asked = max(1, sum(line["errors"] for line in attacks))
    share, unseen = (sum(line[what] for line in attacks) / asked for what in ("flipped", "unseen"))
    if arguments.json:
        figures = {
            "base": arguments.base,
            "adapter": arguments.adapter,
            "flipped": share,
            "unseen": unseen,
            "kinds": lines,
        }
        arguments.json.write_text(json.dumps(figures, indent=1))
    print(f"flipped {share:.3f} unseen {unseen:.3f}")


if __name__ == "__main__":
    main()
