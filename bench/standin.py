"""An engine of known fixed speed in the judge's place, for ``bench.growth`` and tests of a slow one; not a judge.

With a real engine a million pairs take days, and its own noise hides what the pipeline and the store add to each pair.
This one answers every pair alike after a fixed time, through the same Serve handle.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from excam.judgement import Judgement
from excam.report import CORRECT_REPORT, CulturalError, ErrorReport, Location, Severity

EVERY = 50  # one pair in so many is in error


class StandIn:
    """``judge_batch`` as the judge has it: pairs one after the other, each after 1/speed seconds."""

    def __init__(self, speed: float) -> None:
        self._each = 1 / speed
        self._turn = asyncio.Lock()
        self._count = 0

    async def judge_batch(self, pairs: Sequence[tuple[str, str]]) -> list[Judgement]:
        async with self._turn:
            await asyncio.sleep(self._each * len(pairs))
        return [self._judged(output) for _, output in pairs]

    def _judged(self, output: str) -> Judgement:
        self._count += 1
        if self._count % EVERY:
            return Judgement.of(CORRECT_REPORT, 0.1, 0.9)
        error = CulturalError(
            severity=Severity.MAJOR, type="food", location=Location.OUTPUT, span=output[:20], explanation="a stand-in's"
        )
        return Judgement.of(ErrorReport(errors=(error,)), 0.9, 0.5)


def deploy(name: str, speed: float) -> Any:
    """Run the stand-in as a Serve application of this name; its handle."""
    from ray import serve

    deployment = serve.deployment(
        name="Judge",
        num_replicas=1,
        max_ongoing_requests=64,
        graceful_shutdown_timeout_s=0,
        ray_actor_options={"num_cpus": 0.25},
    )(StandIn)
    return serve.run(deployment.bind(speed), name=name, route_prefix=None)


def take_the_judges_place(settings: Any, speed: float) -> None:
    """Run the stand-in under the name that the judge of these settings would have, so that the pipeline finds it."""
    from ray import serve

    from serve.identity import prepare
    from serve.start import APPLICATION, start_ray

    start_ray()
    serve.start(proxy_location="Disabled")
    deploy(f"{APPLICATION}-{prepare(settings).card.judge_version}", speed)
