"""The sides that ``bench.overhead`` compares: each judges a portion of pairs and tells how many a second that was."""

from __future__ import annotations

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq

from bench.judge import settings_of
from bench.pairs import pair_table
from bench.side import Measure, Pairs


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
