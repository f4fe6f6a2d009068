"""How much of the engine's speed the product keeps: the same pairs through bare vLLM, the pipeline and the stream.

Bare vLLM is its own offline class with the same weights, prompts, sampling parameters and engine settings, fed all
pairs at once. The pipeline reads them from Parquet, screens, judges through Ray Data and Ray Serve, and commits them
to a store; the stream finds them in a topic of a real broker. Both are timed from the first pair judged to the last
commit. All are warmed up first, and the start-up of engine and workers is left out. Other tenants of a machine only
ever slow a side down, so with several rounds the best of each side is compared. The last lines end in ``ratio R``.

    python -m bench.overhead --pairs 500 --base smollm2-135m
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq

from bench.judge import add_judge_options, settings_of
from bench.pairs import bench_pairs, pair_table

WARM_UP = 64


def bare(arguments: argparse.Namespace) -> float:
    """Pairs a second of vLLM alone; run in a process of its own, so that its memory is gone afterwards."""
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
    pairs = pairs_of(arguments)

    def decide(some: list[tuple[str, str]]) -> None:
        prompts = [requests.renderer.render(*pair).token_ids for pair in some]
        how = requests.decide if judge.card.tuned else requests.decide_forced
        opening = () if judge.card.tuned else requests.tokens.opening
        asked = [{"prompt_token_ids": [*ids, *opening]} for ids in prompts]
        engine.generate(asked, how, use_tqdm=False, lora_request=lora)

    decide(pairs[arguments.pairs :])
    begun = time.monotonic()
    decide(pairs[: arguments.pairs])
    return float(arguments.pairs / (time.monotonic() - begun))


def pipeline(arguments: argparse.Namespace) -> float:
    """Pairs a second from a Parquet file to committed verdicts, judge warm."""
    import ray

    from pipelines.batch import ScoreOptions, score_logs

    settings = settings_of(arguments)
    options = ScoreOptions(gate=False)
    pairs = pairs_of(arguments)
    with tempfile.TemporaryDirectory() as folder:
        store = f"ducklake:sqlite:{folder}/store/catalog.sqlite"
        for name, some in (("warm", pairs[arguments.pairs :]), ("measured", pairs[: arguments.pairs])):
            pq.write_table(pair_table(some, name), f"{folder}/{name}.parquet")
            scored = score_logs([f"{folder}/{name}.parquet"], store, settings, options)
            if scored.tally.judged != len(some):
                raise SystemExit(f"only {scored.tally.judged} of {len(some)} pairs were judged: {scored.tally}")
    ray.shutdown()
    return scored.pairs_per_second


def stream(arguments: argparse.Namespace) -> float:
    """Pairs a second from a topic to committed verdicts, judge warm."""
    import ray

    from bench.stream import stream_rate
    from tests.kafka import running_kafka

    settings = settings_of(arguments)
    pairs = pairs_of(arguments)
    with tempfile.TemporaryDirectory() as folder, running_kafka() as kafka:
        for name, some in (("warm", pairs[arguments.pairs :]), ("measured", pairs[: arguments.pairs])):
            rate = stream_rate(f"{folder}/{name}", settings, kafka, some)
    ray.shutdown()
    return rate


def pairs_of(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    return bench_pairs(arguments.pairs + WARM_UP, arguments.words)


SIDES = {"bare": bare, "pipeline": pipeline, "stream": stream}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--words", type=int, default=90, help="about so many in a pair")
    parser.add_argument(
        "--sides", nargs="+", choices=SIDES, default=list(SIDES), help="the stream needs Java and Maven"
    )
    parser.add_argument("--rounds", type=int, default=1, help="all sides in turn, so often")
    add_judge_options(parser)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--only", choices=SIDES, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(SIDES[arguments.only](arguments)))
        return
    rates: dict[str, list[float]] = {side: [] for side in arguments.sides}
    for _ in range(arguments.rounds):
        for side, found in rates.items():
            command = [sys.executable, "-m", "bench.overhead", *sys.argv[1:], "--only", side]
            done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
            found.append(float(done.stdout.strip().splitlines()[-1]))
            print(f"{side:<9} {found[-1]:8.2f} pairs/s", flush=True)
    best = {side: max(found) for side, found in rates.items()}
    if arguments.json:
        arguments.json.write_text(json.dumps({"pairs": arguments.pairs, "base": arguments.base, "rounds": rates}))
    for side in [side for side in best if side != "bare" and "bare" in best]:
        print(f"{side} {best[side]:.2f} of bare {best['bare']:.2f}: ratio {best[side] / best['bare']:.3f}")


if __name__ == "__main__":
    main()
