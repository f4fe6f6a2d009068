"""``ray.data.llm`` with its Serve processor, in front of the same replica; it wants a method that streams."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import ray
from ray import serve
from ray.data.llm import ServeDeploymentProcessorConfig, build_processor

from bench.alternatives.server import BASE
from bench.pairs import bench_pairs
from excam.judgement import Judgement
from serve.deployment import JudgeReplica
from serve.engine_arguments import engine_environment
from serve.settings import JudgeSettings
from serve.start import start_ray


class StreamedJudge(JudgeReplica):
    """The judge's replica with one method more."""

    async def stream(self, request: dict[str, Any]) -> AsyncIterator[dict[str, Any]]:
        [judged] = await self.judge_batch([(request["instruction"], request["output"])])
        yield {"status": judged.status.value if isinstance(judged, Judgement) else ""}


def main(source: Path, out: Path) -> None:
    settings = JudgeSettings.load(None, base=BASE, adapter="none", threshold=1.0)
    pairs = [(instruction, output) for instruction, output in map(json.loads, source.open())]
    start_ray()
    options = {"num_cpus": settings.replicas.cpus, "runtime_env": {"env_vars": engine_environment(settings)}}
    deployment = serve.deployment(name="Judge", ray_actor_options=options, max_ongoing_requests=64)(StreamedJudge)
    serve.start(proxy_location="Disabled")
    serve.run(deployment.bind(settings), name="judge", route_prefix=None)
    config = ServeDeploymentProcessorConfig(deployment_name="Judge", app_name="judge", batch_size=64, concurrency=1)
    processor = build_processor(
        config,
        preprocess=lambda row: {
            "method": "stream",
            "request_kwargs": {"instruction": row["instruction"], "output": row["output"]},
        },
        postprocess=lambda row: {"status": row["status"]},
    )

    def judge(some: list[tuple[str, str]]) -> list[str]:
        items = [{"instruction": instruction, "output": output} for instruction, output in some]
        return [row["status"] for row in processor(ray.data.from_items(items, override_num_blocks=1)).take_all()]

    judge(bench_pairs(32, seed=8))
    print("judging")
    begun = time.monotonic()
    found = judge(pairs)
    seconds = time.monotonic() - begun
    judged = sum(bool(status) for status in found)
    out.write_text(json.dumps({"judged": judged, "failed": len(pairs) - judged, "seconds": seconds}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
