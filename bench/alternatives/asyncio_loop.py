"""A plain asyncio loop as one writes it in ten lines: 64 requests at a time, the same prompts as token ids."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from pathlib import Path

from openai import APIError, AsyncOpenAI

from bench.alternatives.server import MODEL, judge_of
from bench.pairs import bench_pairs


async def ask(client: AsyncOpenAI, gate: asyncio.Semaphore, prompt: list[int]) -> bool:
    async with gate:
        try:
            said = await client.completions.create(model=MODEL, prompt=prompt, max_tokens=1, temperature=0, logprobs=5)
        except APIError:
            return False
        return bool(said.choices)


async def main(source: Path, out: Path, url: str) -> None:
    from serve.requests import Requests

    requests = Requests(judge_of())
    pairs = [(instruction, output) for instruction, output in map(json.loads, source.open())]
    client, gate = AsyncOpenAI(base_url=url, api_key="none"), asyncio.Semaphore(64)

    def prompt(pair: tuple[str, str]) -> list[int]:
        return [*requests.renderer.render(*pair).token_ids, *requests.tokens.opening]

    await asyncio.gather(*(ask(client, gate, prompt(pair)) for pair in bench_pairs(32, seed=8)))
    print("judging")
    begun = time.monotonic()
    found = await asyncio.gather(*(ask(client, gate, prompt(pair)) for pair in pairs))
    seconds = time.monotonic() - begun
    out.write_text(json.dumps({"judged": sum(found), "failed": len(found) - sum(found), "seconds": seconds}))


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
