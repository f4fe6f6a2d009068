"""One run: sections in, outcomes committed. The same for a log, for the store rescored, and for dead letters replayed.

The commit contract: (1) workers stage a unit's outcomes as Parquet; (2) the driver commits staged units and their
ledger rows in one transaction; (3) only then are the staged files removed. A crash before (2) loses staged files that
nothing refers to, a crash after it finds the units in the ledger.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import ray
from ray.data import ActorPoolStrategy, DataContext

from excam.memory import give_back
from excam.store import Lease, LedgerUnit, Store
from pipelines.answered import shown_to
from pipelines.files import open_filesystem
from pipelines.judging import units_at_once
from pipelines.plan import RunPlan
from pipelines.progress import Tally, Watcher
from pipelines.reading import ReadAndScreen, section_row
from pipelines.stages import JudgeAndStage
from pipelines.units import Section, waves

COMMIT_ROWS = 8_000  # all in the driver's memory at once: 20 MB of pairs of usual length
COMMIT_BYTES = 32 * 2**20  # fewer rows where pairs are long
COMMIT_SECONDS = 10.0
COMMIT_SHARE = 0.1  # of the time at most, once commits are dear: they open every file of a store
WAVE_UNITS = 2_000  # units in one execution for every worker: Ray Data remembers each of them until the execution ends
TASK_CPUS = 0.25
CALLS_PER_WORKER = 128  # calls in flight that one reader and one caller keep busy: a thousand pairs a second


def run_sections(
    store: Store, lease: Lease, plan: RunPlan, sections: Sequence[Section], watcher: Watcher
) -> tuple[Tally, float, dict[str, str]]:
    """Read, screen, judge and commit every section; what is committed stays, whatever happens to the rest.

    Returns what was done, the seconds from the first pair judged to the last commit, and the files that are out of
    reach with what to say of them: what was not read of them is not done, and the next run takes it.
    """
    writer = _Committer(store, lease, plan)
    tally, begun, away = Tally(), math.inf, dict[str, str]()
    watcher.judging(tally)
    try:
        with shown_to(watcher) as answered:
            for wave in waves(sections, WAVE_UNITS * workers_for(plan.in_flight)):
                for unit in _judged_units(replace(plan, answered=answered), wave):
                    if unit["away"]:
                        away.setdefault(unit["source"], unit["away"])
                        continue
                    writer.add(unit)
                    tally += Tally(**json.loads(unit["counted"]))
                    begun = min(begun, unit["begun"])
                    watcher.judging(tally)
                give_back()  # what Ray Data remembers of an execution goes round in circles
    finally:
        writer.flush()
    return tally, max(0.0, time.time() - begun), away


def workers_for(in_flight: int) -> int:
    """Readers, and as many callers, for a judge that takes so many calls: one until there are several GPUs to feed."""
    return math.ceil(in_flight / CALLS_PER_WORKER)


def _judged_units(plan: RunPlan, sections: Sequence[Section]) -> Iterator[dict[str, Any]]:
    context = DataContext.get_current()
    context.enable_progress_bars = False
    context.target_max_block_size = 1  # every unit is a block of its own: it moves on as soon as it is read or judged
    items = [section_row(section) for section in sections]
    workers = workers_for(plan.in_flight)
    calls, first = (math.ceil(all_calls / workers) for all_calls in (plan.in_flight, plan.first_calls))
    share = replace(plan, in_flight=calls, first_calls=first)
    units = units_at_once(share.in_flight)
    judged = (
        ray.data.from_items(items, override_num_blocks=len(items))
        .map_batches(
            ReadAndScreen,
            fn_constructor_args=(replace(plan, judge=None, answered=None),),
            batch_size=1,
            compute=ActorPoolStrategy(size=workers, max_tasks_in_flight_per_actor=2),
            num_cpus=TASK_CPUS,
        )
        .map_batches(
            JudgeAndStage,
            fn_constructor_args=(share,),
            batch_size=1,
            compute=ActorPoolStrategy(
                size=workers, max_tasks_in_flight_per_actor=2 * units, max_concurrent_calls_per_actor=units
            ),
            num_cpus=TASK_CPUS,
        )
    )
    # Block by block: iter_batches would leave a thread behind for every execution.
    for bundle in judged.iter_internal_ref_bundles():
        for block in bundle.blocks:
            yield from ray.get(block.ref).to_pylist()


class _Committer:
    """Gathers staged units and commits them together: often enough to lose little, seldom enough to cost little."""

    def __init__(self, store: Store, lease: Lease, plan: RunPlan) -> None:
        self._store = store
        self._lease = lease
        self._plan = plan
        self._units: list[dict[str, Any]] = []
        self._next = time.monotonic() + COMMIT_SECONDS

    def add(self, unit: dict[str, Any]) -> None:
        self._units.append(unit)
        rows, size = (sum(held[what] for held in self._units) for what in ("outcomes", "bytes"))
        if rows >= COMMIT_ROWS or size >= COMMIT_BYTES or time.monotonic() >= self._next:
            begun = time.monotonic()
            self.flush()
            took = time.monotonic() - begun
            self._next = begun + max(COMMIT_SECONDS, took / COMMIT_SHARE)

    def flush(self) -> None:
        units, self._units = self._units, []
        if not units:
            return
        staged = [unit["staged"] for unit in units if unit["staged"]]
        ledger = [
            LedgerUnit(
                source=unit["source"],
                part=unit["part"],
                fingerprint=unit["fingerprint"],
                rows_total=unit["total"],
                rows_skipped=unit["skipped"],
                state="done",
            )
            for unit in units
        ]
        plan = self._plan
        self._store.commit(self._lease, plan.run_id, plan.judge_version, staged, ledger)
        for path in staged:
            filesystem, name = open_filesystem(path)
            filesystem.delete_file(name)
