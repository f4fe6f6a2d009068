"""How much of the engine's speed the pipeline keeps: the same pairs through bare vLLM and through the whole product.

Bare vLLM is its own offline class with the same weights, prompts, sampling parameters and engine settings, fed all
pairs at once. The pipeline reads them from Parquet, screens, judges through Ray Data and Ray Serve, and commits them
to a store; it is timed from the first pair judged to the last commit. Both are warmed up first, and the start-up of
engine and workers is left out of both. The last line is ``ratio R``.

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
from typing import Any

import pyarrow.parquet as pq

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


def add_judge_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--base", default="smollm2-135m")
    parser.add_argument("--adapter", default="none")
    parser.add_argument("--judge-config", type=Path, help="engine and replica settings, for both sides")


def settings_of(arguments: argparse.Namespace) -> Any:
    from serve.settings import JudgeSettings

    # A threshold that no pair reaches: both sides make exactly one decision a pair and write no report.
    return JudgeSettings.load(
        arguments.judge_config, base=arguments.base, adapter=arguments.adapter, threshold=1.0, calibration="none"
    )


def pairs_of(arguments: argparse.Namespace) -> list[tuple[str, str]]:
    return bench_pairs(arguments.pairs + WARM_UP, arguments.words)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=500)
    parser.add_argument("--words", type=int, default=90, help="about so many in a pair")
    add_judge_options(parser)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    parser.add_argument("--only", choices=("bare", "pipeline"), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.only:
        print(json.dumps(bare(arguments) if arguments.only == "bare" else pipeline(arguments)))
        return
    rates = {}
    for side in ("bare", "pipeline"):
        command = [sys.executable, "-m", "bench.overhead", *sys.argv[1:], "--only", side]
        done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        rates[side] = float(done.stdout.strip().splitlines()[-1])
        print(f"{side:<9} {rates[side]:8.2f} pairs/s")
    ratio = rates["pipeline"] / rates["bare"]
    if arguments.json:
        arguments.json.write_text(
            json.dumps({"pairs": arguments.pairs, "base": arguments.base, **rates, "ratio": ratio})
        )
    print(f"ratio {ratio:.3f}")


if __name__ == "__main__":
    main()
