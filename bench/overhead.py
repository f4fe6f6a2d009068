"""How much of the engine's speed the product keeps: the same pairs through bare vLLM, the pipeline and the stream.

Bare vLLM is its own offline class with the same weights, prompts, sampling parameters and engine settings, fed all
pairs at once: one engine with all cores. On a CPU the product runs several (serve/cores.py); with ``--sides engines
pipeline`` those are timed alone, without Ray, reading or storing, which is the stricter measure. The pipeline reads
pairs from Parquet, screens, judges through Ray Data and Ray Serve, and commits them to a store; the stream finds them
in a topic of a real broker. Both are timed from the first pair judged to the last commit. All are warmed up first, and
the start-up of engine and workers is left out. With several rounds, which need room in memory for all engines at once,
the sides take turns (``bench.side``) and the time of all rounds counts. Each line also tells which processes kept the
cores busy while pairs were judged, and how busy a GPU was. The last line is ``ratio R``, of the pipeline to bare vLLM.

    python -m bench.overhead --pairs 500 --base smollm2-135m
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shutil
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import asdict
from pathlib import Path

import pyarrow.parquet as pq

from bench.judge import add_judge_options, settings_of
from bench.pairs import bench_pairs, pair_table
from bench.side import Measure, Measured, Pairs, Side, answer

WARM_UP = 64


@contextmanager
def bare(arguments: argparse.Namespace) -> Iterator[Measure]:
    """Pairs a second of vLLM alone."""
    from serve.engine_arguments import engine_arguments, engine_environment
    from serve.identity import has_gpu, prepare

    settings = settings_of(arguments)
    # Its quickest form: on a CPU in one process, on a GPU with the scheduler in a process of its own.
    os.environ.update(engine_environment(settings), VLLM_ENABLE_V1_MULTIPROCESSING=str(int(has_gpu())))
    from vllm import LLM
    from vllm.lora.request import LoRARequest

    from serve.requests import Requests

    judge = prepare(settings)
    requests = Requests(judge)
    engine = LLM(**engine_arguments(judge))
    lora = LoRARequest(judge.card.adapter or "", 1, str(judge.lora_path)) if judge.lora_path else None
    how = requests.decide if judge.card.tuned else requests.decide_forced
    opening = () if judge.card.tuned else requests.tokens.opening

    def measure(pairs: Pairs) -> float:
        begun = time.monotonic()
        prompts = [requests.renderer.render(*pair).token_ids for pair in pairs]
        asked = [{"prompt_token_ids": [*ids, *opening]} for ids in prompts]
        engine.generate(asked, how, use_tqdm=False, lora_request=lora)
        return len(pairs) / (time.monotonic() - begun)

    yield measure


@contextmanager
def engines(arguments: argparse.Namespace) -> Iterator[Measure]:
    """Pairs a second of the judge's engines, as many as a replica runs, without Ray, reading or storing."""
    from serve.cores import engines_of, threads_of

    settings = settings_of(arguments)
    count = engines_of(settings)
    os.environ["OMP_NUM_THREADS"] = str(max(1, threads_of(settings) // count))  # before anything loads torch
    from serve.engine import JudgeEngine
    from serve.engine_arguments import engine_environment
    from serve.identity import has_gpu, prepare

    count = 1 if has_gpu() else count
    os.environ.update(engine_environment(settings, count))
    judge = prepare(settings)

    async def start() -> JudgeEngine:
        return JudgeEngine(judge, count)

    with asyncio.Runner() as loop:
        engine = loop.run(start())

        def measure(pairs: Pairs) -> float:
            begun = time.monotonic()
            loop.run(engine.judge_many(pairs))
            return len(pairs) / (time.monotonic() - begun)

        try:
            yield measure
        finally:
            loop.run(engine.close())


@contextmanager
def pipeline(arguments: argparse.Namespace) -> Iterator[Measure]:
    """Pairs a second from a Parquet file to committed verdicts, all portions into one store."""
    import ray

    from pipelines.batch import ScoreOptions, score_logs

    settings = settings_of(arguments)
    with tempfile.TemporaryDirectory() as folder:

        def measure(pairs: Pairs) -> float:
            name = f"{len(list(Path(folder).glob('*.parquet')))}"
            pq.write_table(pair_table(pairs, name), f"{folder}/{name}.parquet")
            store = f"ducklake:sqlite:{folder}/store/catalog.sqlite"
            scored = score_logs([f"{folder}/{name}.parquet"], store, settings, ScoreOptions(gate=False))
            if scored.tally.judged != len(pairs):
                raise SystemExit(f"only {scored.tally.judged} of {len(pairs)} pairs were judged: {scored.tally}")
            return scored.pairs_per_second

        yield measure
    ray.shutdown()


@contextmanager
def stream(arguments: argparse.Namespace) -> Iterator[Measure]:
    """Pairs a second from a topic to committed verdicts, every portion in a topic and a store of its own."""
    import ray

    from bench.stream import stream_rate
    from tests.kafka import running_kafka

    settings = settings_of(arguments)
    with running_kafka() as kafka, tempfile.TemporaryDirectory() as folder:
        yield lambda pairs: stream_rate(tempfile.mkdtemp(dir=folder), settings, kafka, pairs)
    ray.shutdown()


SIDES = {"bare": bare, "engines": engines, "pipeline": pipeline, "stream": stream}


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
    add_judge_options(parser)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--only", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        answer(
            SIDES[arguments.only](arguments),
            lambda portion: bench_pairs(arguments.pairs if portion else WARM_UP, arguments.words, seed=7 + portion),
        )
        return
    from serve.identity import has_gpu

    rounds = arguments.rounds or (1 if has_gpu() else 3)
    this = [sys.executable, "-m", "bench.overhead", *sys.argv[1:]]
    measured = by_turns({side: [*this, "--only", side] for side in arguments.sides}, rounds)
    if arguments.json:
        sides = {side: [asdict(one) for one in found] for side, found in measured.items()}
        arguments.json.write_text(json.dumps({"pairs": arguments.pairs, "base": arguments.base, "sides": sides}))
    rates = {side: statistics.harmonic_mean([one.rate for one in found]) for side, found in measured.items()}
    for side, other in (("stream", "bare"), ("pipeline", "engines"), ("pipeline", "bare")):
        if {side, other} <= rates.keys():
            what = "ratio" if (side, other) == ("pipeline", "bare") else f"{side} to {other}"
            print(f"{what} {rates[side] / rates[other]:.3f}")


def _possible() -> list[str]:
    return ["bare", "pipeline", *(["stream"] if shutil.which("java") else [])]


if __name__ == "__main__":
    main()
