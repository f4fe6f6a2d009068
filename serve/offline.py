"""Judge a table of pairs in this process: no Ray, no HTTP, only the engine. This is how a judge is measured."""

from __future__ import annotations

import asyncio
import hashlib
import itertools
import math
import os
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from excam.evaluation.baselines import Baseline, BaselineRenderer
from excam.evaluation.verdicts import baseline_answer, decision_only, written_report
from excam.judge_card import JudgeCard
from excam.score import sequence_probability
from serve.engine_arguments import run_with_engine, start_engine
from serve.identity import Judge

Row = dict[str, Any]
Ask = Callable[[Row], Awaitable[Row]]
Keep = Callable[[list[Row]], None]

AT_ONCE = 512  # pairs handed to the engine, so that it always has enough to batch
OUT_OF_REACH = 2.0  # no probability comes up to it
KEEP_ROWS, KEEP_SECONDS = 256, 20.0  # verdicts are kept when there are so many, or so much time has passed


def judge_rows(judge: Judge, rows: Iterable[Mapping[str, Any]], keep: Keep, *, reports: bool) -> None:
    """Judge rows that hold an instruction and an output; ``keep`` gets them back with their verdicts, in portions.

    Without reports only decisions are asked for: the engine's threshold is put out of reach, and the judge's own is
    applied to what comes back. With reports the judge works exactly as it is served.
    """
    threshold = judge.threshold
    deciding = judge if reports else replace(judge, threshold=OUT_OF_REACH)

    async def start() -> tuple[Ask, Callable[[], None]]:
        from serve.engine import JudgeEngine

        engine = JudgeEngine(deciding)

        async def ask(row: Row) -> Row:
            found = await engine.judge(row["instruction"], row["output"])
            return row | (written_report(found) if reports else decision_only(found, threshold))

        return ask, engine.shutdown

    _run(judge, start, rows, keep)


def baseline_card(judge: Judge, baseline: Baseline) -> JudgeCard:
    """The identity of an untuned base that is asked a baseline's prompt."""
    settings = judge.settings
    decoding = {
        "temperature": 0.0,
        "baseline": baseline.name,
        "max_prompt_tokens": settings.max_prompt_tokens,
        "max_answer_tokens": settings.max_report_tokens,
    }
    prompt = hashlib.sha256(baseline.prompt.encode()).hexdigest()
    return judge.card.model_copy(update={"prompt_sha256": prompt, "decoding": decoding})


def ask_baseline(judge: Judge, baseline: Baseline, rows: Iterable[Mapping[str, Any]], keep: Keep) -> None:
    """Ask an untuned base one of the paper's baseline prompts about every row, greedily, with the judge's engine."""

    async def start() -> tuple[Ask, Callable[[], None]]:
        from vllm import SamplingParams
        from vllm.sampling_params import RequestOutputKind

        from excam.models import load_tokenizer

        settings = judge.settings
        renderer = BaselineRenderer(baseline, load_tokenizer(judge.model_path), settings.max_prompt_tokens)
        engine = start_engine(judge)
        how = SamplingParams(
            temperature=0.0,
            max_tokens=settings.max_report_tokens,
            logprobs=0,
            output_kind=RequestOutputKind.FINAL_ONLY,
        )
        number = itertools.count()

        async def ask(row: Row) -> Row:
            prompt = renderer.render(row["instruction"], row["output"])
            stream = engine.generate({"prompt_token_ids": prompt.token_ids}, how, f"row-{next(number)}")
            answer = [part async for part in stream][-1].outputs[0]
            p_answer = sequence_probability(answer.cumulative_logprob, max(1, len(answer.token_ids)))
            return row | baseline_answer(baseline, answer.text, p_answer, truncated=prompt.truncated)

        return ask, engine.shutdown

    _run(judge, start, rows, keep)


def parameters(folder: Path) -> int:
    """How many numbers the weights in a folder hold, read from the files' headers."""
    from safetensors import safe_open

    total = 0
    for path in sorted(folder.glob("*.safetensors")):
        with safe_open(path, "np") as file:
            total += sum(math.prod(file.get_slice(name).get_shape()) for name in file.keys())  # noqa: SIM118
    return total


def _run(judge: Judge, start: Callable[[], Awaitable[Any]], rows: Iterable[Mapping[str, Any]], keep: Keep) -> None:
    os.environ.setdefault("VLLM_LOGGING_LEVEL", "ERROR")
    run_with_engine(judge.settings, lambda: _judge(start, rows, keep))


async def _judge(start: Callable[[], Awaitable[Any]], rows: Iterable[Mapping[str, Any]], keep: Keep) -> None:
    ask, shutdown = await start()
    portion: list[Row] = []
    kept = time.monotonic()
    try:
        async for row in _answered(ask, rows):
            portion.append(row)
            if len(portion) >= KEEP_ROWS or time.monotonic() - kept >= KEEP_SECONDS:
                keep(portion)
                portion, kept = [], time.monotonic()
    finally:  # being told to stop loses nothing that was judged
        keep(portion)
        shutdown()


async def _answered(ask: Ask, rows: Iterable[Mapping[str, Any]]) -> AsyncIterator[Row]:
    """Rows as their answers come, with a bounded number under way."""
    running: set[asyncio.Task[Row]] = set()
    for row in rows:
        running.add(asyncio.ensure_future(ask(dict(row))))
        if len(running) >= AT_ONCE:
            done, running = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                yield task.result()
    for one in asyncio.as_completed(running):
        yield await one
