"""How much of the engine's speed the product keeps: the same pairs through bare vLLM, the pipeline and the stream.

Bare vLLM is its own offline class with the same weights, prompts, sampling parameters and engine settings, fed all
pairs at once: one engine with all cores. On a CPU the product runs several (serve/cores.py); with ``--sides engines
pipeline`` those are timed alone, without Ray, reading or storing, which is the stricter measure. The pipeline reads
pairs from Parquet, screens, judges through Ray Data and Ray Serve, and commits them to a store; the stream finds them
in a topic of a real broker. Both are timed from the first pair judged to the last commit. All are warmed up first, and
the start-up of engine and workers is left out. With several rounds, which need room in memory for all engines at once,
the sides take turns (``bench.side``) and the time of all rounds counts. Each line also tells which processes kept the
cores busy while pairs were judged, and how busy a GPU was. The last line is ``ratio R``, of the pipeline to bare vLLM.
Several files of settings are timed against each other: every side runs with each, and the last lines compare them.

    python -m bench.overhead --pairs 500 --base smollm2-135m
    python -m bench.overhead --sides pipeline --judge-config served.yaml merged.yaml --rounds 2
"""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path

from bench.judge import add_judge_options
from bench.pairs import bench_pairs
from bench.side import Measured, Side, answer
from bench.sides import SIDES

WARM_UP = 64


def by_turns(commands: dict[str, list[str]], rounds: int) -> dict[str, list[Measured]]:
    """What each side did in every round; a single round starts the sides one after the other."""
    found: dict[str, list[Measured]] = {name: [] for name in commands}

    def take(name: str, side: Side, portion: int) -> None:
        measured = side.measure(portion)
        found[name].append(measured)
        print(f"{name:<9} {measured}", flush=True)

    if rounds == 1:
        for name, command in commands.items():
            with Side(command) as side:
                take(name, side, 1)
        return found
    with ExitStack() as stack:
        sides = {}
        for name, command in commands.items():
            sides[name] = stack.enter_context(Side(command))
            sides[name].freeze()
        for portion in range(1, rounds + 1):
            for name, side in sides.items():
                side.thaw()
                take(name, side, portion)
                side.freeze()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=500, help="in every round")
    parser.add_argument("--words", type=int, default=90, help="about so many in a pair")
    parser.add_argument(
        "--sides",
        nargs="+",
        choices=SIDES,
        default=_possible(),
        help="[bare, pipeline, and where Java is stream]",
    )
    parser.add_argument("--rounds", type=int, help="all sides in turn, so often; 3 on a CPU, 1 on a GPU")
    add_judge_options(parser, configs="+")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--only", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    configs: list[Path | None] = arguments.judge_config or [None]
    if arguments.only:
        arguments.judge_config = configs[0]
        answer(
            SIDES[arguments.only](arguments),
            lambda portion: bench_pairs(arguments.pairs if portion else WARM_UP, arguments.words, seed=7 + portion),
        )
        return
    from serve.identity import has_gpu

    rounds = arguments.rounds or (1 if has_gpu() else 3)
    this = [sys.executable, "-m", "bench.overhead", *sys.argv[1:]]
    commands = {}
    for config in configs:
        for side in arguments.sides:
            name = f"{side} {config}" if len(configs) > 1 else side
            commands[name] = [*this, *(["--judge-config", str(config)] if config else []), "--only", side]
    measured = by_turns(commands, rounds)
    if arguments.json:
        sides = {side: [asdict(one) for one in found] for side, found in measured.items()}
        arguments.json.write_text(json.dumps({"pairs": arguments.pairs, "base": arguments.base, "sides": sides}))
    rates = {side: statistics.harmonic_mean([one.rate for one in found]) for side, found in measured.items()}
    for line in ratios(rates):
        print(line)


def ratios(rates: dict[str, float]) -> list[str]:
    """The product to the engine alone; where there are several settings, each to the first of its side."""
    known = [("stream", "bare"), ("pipeline", "engines"), ("pipeline", "bare")]
    firsts = {side.split()[0]: side for side in reversed(rates)}
    known += [(side, first) for side in rates if (first := firsts[side.split()[0]]) != side]
    return [
        f"{'ratio' if (side, other) == ('pipeline', 'bare') else f'{side} to {other}'} {rates[side] / rates[other]:.3f}"
        for side, other in known
        if {side, other} <= rates.keys()
    ]


def _possible() -> list[str]:
    return ["bare", "pipeline", *(["stream"] if shutil.which("java") else [])]


if __name__ == "__main__":
    main()
