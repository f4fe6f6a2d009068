"""The stages of a stream: the batch pipeline's, in actors that live as long as the stream does.

Ray Data starts the actors of a plan anew for every execution, which would cost seconds in every micro-batch; so the
messages are read with Ray Data and handed to these.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import ray

from excam.outcome import Kind
from pipelines.judging import units_at_once
from pipelines.plan import RunPlan
from pipelines.progress import Tally
from pipelines.screen import Row
from pipelines.stages import JudgeAndStage
from pipelines.stream.budgets import Budget
from pipelines.stream.screener import Screener
from pipelines.stream.settings import StreamOptions

ACTOR_CPUS = 0.25


@dataclass(frozen=True)
class JudgedUnit:
    """What became of a unit: where its outcomes are staged, and what the driver tells about them."""

    staged: str
    rows: int
    tally: Tally
    logged_at: list[float] = field(default_factory=list)
    letters: list[Row] = field(default_factory=list)


class StreamJudge(JudgeAndStage):
    """Judges and stages units as in a batch run, and tells the driver what a stream wants to know of them."""

    def __init__(self, plan: RunPlan, *, tell_letters: bool) -> None:
        super().__init__(plan)
        self._tell_letters = tell_letters

    async def judge(self, unit: pa.Table) -> JudgedUnit:
        rows: list[Row] = unit.to_pylist()
        staged, counted = await self.judge_and_stage(rows, 0)
        verdicts = [row for row in rows if row["kind"] == Kind.VERDICT.value]
        letters = [row for row in rows if row["kind"] == Kind.DEAD_LETTER.value] if self._tell_letters else []
        return JudgedUnit(staged, len(rows), counted, [row["logged_at"].timestamp() for row in verdicts], letters)


def start_screeners(plan: RunPlan, options: StreamOptions, source: str) -> list[Any]:
    """One screener, or several where nothing is capped: a cap needs to see the whole batch."""
    capped = Budget(options.cap_per_hour, options.cap_per_country).limited
    actor = ray.remote(num_cpus=ACTOR_CPUS, max_restarts=-1)(Screener)
    told = (plan.store_url, plan.judge_version, options, source)
    return [actor.remote(*told) for _ in range(1 if capped else max(1, options.screeners))]


def start_stream_judge(plan: Any, in_flight: int, *, tell_letters: bool) -> Any:
    """The actor that keeps the judge busy; when it dies Ray starts it again and repeats what it had not answered.

    ``plan`` is a reference to a RunPlan, which the caller keeps: Ray cannot start an actor again without its arguments.
    """
    units = units_at_once(in_flight)
    actor = ray.remote(num_cpus=ACTOR_CPUS, max_restarts=-1, max_task_retries=-1, max_concurrency=units)
    return actor(StreamJudge).remote(plan, tell_letters=tell_letters)
