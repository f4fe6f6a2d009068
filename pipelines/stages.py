"""The stages as Ray Data runs them. A row of the dataset is a unit; its outcomes travel inside it as Arrow bytes."""

from __future__ import annotations

import json
import pickle
import time
import uuid
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from excam.mapping import RecordMapping
from excam.outcome import Kind, outcome_table
from excam.report import Status
from excam.store import Store
from pipelines.files import open_filesystem
from pipelines.judging import JudgeCaller
from pipelines.progress import Tally
from pipelines.read import read_units
from pipelines.screen_unit import screen_unit
from pipelines.seen import take_stored_verdicts
from pipelines.stream.registry import Registry
from pipelines.units import Section

Batch = dict[str, npt.NDArray[Any]]


@dataclass(frozen=True)
class RunPlan:
    """What every stage of one run needs to know; it is sent to the workers once."""

    store_url: str
    staging: str
    run_id: str
    judge_version: str
    mapping: RecordMapping
    gate: bool
    judge: Any
    in_flight: int
    first_calls: int
    registry: str | None = None  # describes the messages among replayed dead letters
    answered: Any = None  # the actor that is told how many pairs have an answer


def section_row(section: Section) -> dict[str, bytes]:
    """A section as a row of the dataset that the stages start from."""
    return {"section": pickle.dumps(section)}


def _unit_row(**columns: str | int | float | bytes) -> Batch:
    return {name: np.array([value], dtype=object) for name, value in columns.items()}


def pack(table: pa.Table) -> bytes:
    """Outcomes as bytes, in which form they travel inside a row of a dataset."""
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return bytes(sink.getvalue())


def unpack(packed: bytes) -> list[dict[str, Any]]:
    """The rows that were packed."""
    with pa.ipc.open_stream(packed) as stream:
        rows: list[dict[str, Any]] = stream.read_all().to_pylist()
        return rows


class ReadAndScreen:
    """Reads a section and gives out its units, screened; texts judged before leave with their stored verdict."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        with Store.open(plan.store_url, read_only=True) as store:
            self._known = store.known_hashes(plan.judge_version)
        self._registry = Registry(plan.registry) if plan.registry else None

    def __call__(self, batch: Batch) -> Iterator[Batch]:
        section: Section = pickle.loads(batch["section"][0])
        plan = self._plan
        for unit in read_units(section):
            rows, skipped = screen_unit(unit, section, plan.mapping, gate=plan.gate, registry=self._registry)
            take_stored_verdicts(rows, self._known, plan.store_url, plan.judge_version)
            yield _unit_row(
                source=section.uri,
                fingerprint=section.fingerprint,
                part=unit.part,
                total=unit.rows,
                skipped=skipped,
                outcomes=pack(outcome_table(rows)),
            )


class JudgeAndStage:
    """Judges a unit's pending rows and writes all its outcomes as one staged Parquet file for the driver to commit."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._caller = JudgeCaller(plan.judge, plan.judge_version, plan.in_flight, plan.first_calls, plan.answered)
        self._filesystem, self._folder = open_filesystem(f"{plan.staging}/{plan.run_id}")
        self._filesystem.create_dir(self._folder, recursive=True)

    async def __call__(self, batch: Batch) -> Batch:
        rows = unpack(batch["outcomes"][0])
        begun = time.time()
        staged, counted = await self.judge_and_stage(rows, int(batch["skipped"][0]))
        kept = {name: batch[name] for name in ("source", "fingerprint", "part", "total", "skipped")}
        return kept | _unit_row(outcomes=len(rows), staged=staged, begun=begun, counted=json.dumps(asdict(counted)))

    async def judge_and_stage(self, rows: list[dict[str, Any]], skipped: int) -> tuple[str, Tally]:
        """Settle the rows in place and write them; where the file is (nowhere for no rows) and what was counted."""
        await self._caller.judge_rows(rows)
        counted = tally_of(rows, skipped, self._caller.retries)
        self._caller.retries = 0
        for row in rows:
            if row["kind"] == Kind.VERDICT.value:
                row["record"] = None  # kept this far in case the judge failed
        return self._write(outcome_table(rows)) if rows else "", counted

    def _write(self, table: pa.Table) -> str:
        name = f"{uuid.uuid4().hex}.parquet"
        with self._filesystem.open_output_stream(f"{self._folder}/{name}") as stream:
            pq.write_table(table, stream, compression="zstd")
        return f"{self._plan.staging}/{self._plan.run_id}/{name}"


def tally_of(rows: list[dict[str, Any]], skipped: int, retries: int) -> Tally:
    """What a unit adds to the progress bar."""
    verdicts = [row for row in rows if row["kind"] == Kind.VERDICT.value]
    return Tally(
        rows=len(rows) + skipped,
        judged=sum(not row.get("gated") and not row.get("reused") for row in verdicts),
        errors=sum(row["status"] == Status.ERROR.value for row in verdicts),
        not_applicable=sum(row["status"] == Status.NOT_APPLICABLE.value for row in verdicts),
        reused=sum(bool(row.get("reused")) for row in verdicts),
        dead_letters=len(rows) - len(verdicts),
        skipped=skipped,
        retries=retries,
    )
