"""The stages of a stream: the batch pipeline's, in actors that live as long as the stream does.

Ray Data starts the actors of a plan anew for every execution, which would cost seconds in every micro-batch; so the
messages are read with Ray Data and handed to these.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import ray

from excam.outcome import Kind, outcome_table
from excam.store import Store
from pipelines.progress import Tally
from pipelines.run import TASK_CPUS, UNITS_AT_ONCE
from pipelines.screen import Row, Screening
from pipelines.seen import take_stored_verdicts
from pipelines.stages import JudgeAndStage, RunPlan, pack, unpack
from pipelines.stream.budgets import Budget
from pipelines.stream.message import Message
from pipelines.stream.read import PlannedRange
from pipelines.stream.registry import Registry
from pipelines.stream.screen import screen_message
from pipelines.stream.settings import StreamOptions
from pipelines.units import UNIT_ROWS, Sampling

KNOWN_SECONDS = 600.0  # how long "what was judged before" may be out of date; it costs a second judgement, no more


@dataclass
class PartCount:
    """What a batch held of one partition."""

    messages: int = 0
    bytes: int = 0
    empty: int = 0
    records: int = 0
    skipped: int = 0
    last: int | None = None
    last_timestamp: int | None = None

    def __add__(self, other: PartCount) -> PartCount:
        later = max(self, other, key=lambda one: -1 if one.last is None else one.last)
        return PartCount(
            self.messages + other.messages,
            self.bytes + other.bytes,
            self.empty + other.empty,
            self.records + other.records,
            self.skipped + other.skipped,
            later.last,
            later.last_timestamp,
        )


@dataclass(frozen=True)
class Screened:
    """What screening counted, and the budget as it stands afterwards."""

    parts: dict[int, PartCount]
    rows: int
    budget: str


@dataclass(frozen=True)
class JudgedUnit:
    """What became of a unit: where its outcomes are staged, and what the driver tells about them."""

    staged: str
    rows: int
    tally: Tally
    logged_at: list[float] = field(default_factory=list)
    letters: list[Row] = field(default_factory=list)


class Screener:
    """Decodes and screens messages; gives first what it counted, then the units for the judge."""

    def __init__(self, plan: RunPlan, options: StreamOptions, source: str) -> None:
        self._plan = plan
        self._options = options
        self._source = source
        self._how = Screening(options.mapping, Sampling(options.share, (), options.always_apps), options.gate)
        self._registry = Registry(options.registry) if options.registry else None
        self._load_known()

    def screen(
        self, ranges: Sequence[PlannedRange], budget_state: str, *tables: pa.Table
    ) -> Iterator[Screened | bytes]:
        """Screen the messages that lie in the ranges; ``budget_state`` is the budget as the batch before left it."""
        if time.monotonic() - self._known_at > KNOWN_SECONDS:
            self._load_known()
        wanted = {planned.part: planned for planned in ranges}
        counts = {planned.part: PartCount() for planned in ranges}
        rows: list[Row] = []
        for table in tables:
            for raw in table.to_pylist():
                planned = wanted.get(int(raw["partition"]))
                if planned is not None and planned.start <= raw["offset"] < planned.visible:
                    rows += self._screened(Message.of(raw), counts)
        take_stored_verdicts(rows, self._known, self._plan.store_url, self._plan.judge_version)
        options = self._options
        budget = Budget(options.cap_per_hour, options.cap_per_country, options.always_apps)
        budget.load(budget_state)
        kept, _ = budget.apply(rows)
        held = {id(row) for row in kept}
        for row in rows:
            counts[row["part"]].skipped += id(row) not in held
        units = [kept[start : start + UNIT_ROWS] for start in range(0, len(kept), UNIT_ROWS)]
        yield Screened(counts, len(kept), budget.dump() if budget.limited else "")
        for unit in units:
            yield pack(outcome_table(unit))

    def _screened(self, message: Message, counts: Mapping[int, PartCount]) -> list[Row]:
        found = screen_message(message, self._source, self._how, self._registry).rows
        kept = [row for row in found if row is not None]
        count = counts[message.part]
        count.messages += 1
        count.bytes += len(message.value or b"")
        count.empty += message.value is None
        count.records += len(found)
        count.skipped += len(found) - len(kept)
        count.last, count.last_timestamp = message.offset, message.timestamp
        return kept

    def _load_known(self) -> None:
        with Store.open(self._plan.store_url, read_only=True) as store:
            self._known = store.known_hashes(self._plan.judge_version)
        self._known_at = time.monotonic()


class StreamJudge(JudgeAndStage):
    """Judges and stages units as in a batch run, and tells the driver what a stream wants to know of them."""

    def __init__(self, plan: RunPlan, *, tell_letters: bool) -> None:
        super().__init__(plan)
        self._tell_letters = tell_letters

    async def judge(self, packed: bytes) -> JudgedUnit:
        rows = unpack(packed)
        staged, counted = await self.judge_and_stage(rows, 0)
        verdicts = [row for row in rows if row["kind"] == Kind.VERDICT.value]
        letters = [row for row in rows if row["kind"] == Kind.DEAD_LETTER.value] if self._tell_letters else []
        return JudgedUnit(staged, len(rows), counted, [row["logged_at"].timestamp() for row in verdicts], letters)


def start_screeners(plan: RunPlan, options: StreamOptions, source: str) -> list[Any]:
    """One screener, or several where nothing is capped: a cap needs to see the whole batch."""
    capped = Budget(options.cap_per_hour, options.cap_per_country).limited
    actor = ray.remote(num_cpus=TASK_CPUS, max_restarts=-1)(Screener)
    return [actor.remote(plan, options, source) for _ in range(1 if capped else max(1, options.screeners))]


def start_stream_judge(plan: RunPlan, *, tell_letters: bool) -> Any:
    """The actor that keeps the judge busy; when it dies Ray starts it again and repeats what it had not answered."""
    actor = ray.remote(num_cpus=TASK_CPUS, max_restarts=-1, max_task_retries=-1, max_concurrency=UNITS_AT_ONCE)
    return actor(StreamJudge).remote(plan, tell_letters=tell_letters)
