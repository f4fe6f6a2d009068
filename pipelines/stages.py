"""The stage that judges, as Ray Data runs it: a unit in, its outcomes staged as a file for the driver to commit."""

from __future__ import annotations

import json
import time
import uuid
from dataclasses import asdict
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from excam.outcome import Kind, outcome_table
from excam.report import Status
from pipelines.files import open_filesystem
from pipelines.judging import JudgeCaller
from pipelines.plan import Batch, RunPlan, unit_row, unpack
from pipelines.progress import Tally


class JudgeAndStage:
    """Judges a unit's pending rows and writes all its outcomes as one staged Parquet file for the driver to commit."""

    def __init__(self, plan: RunPlan) -> None:
        self._plan = plan
        self._caller = JudgeCaller(plan.judge, plan.judge_version, plan.in_flight, plan.first_calls, plan.answered)
        self._filesystem, self._folder = open_filesystem(f"{plan.staging}/{plan.run_id}")
        self._filesystem.create_dir(self._folder, recursive=True)

    async def __call__(self, batch: Batch) -> Batch:
        packed = batch["outcomes"][0]
        rows = unpack(packed)
        begun = time.time()
        staged, counted = await self.judge_and_stage(rows, int(batch["skipped"][0]))
        kept = {name: batch[name] for name in ("source", "fingerprint", "part", "total", "skipped", "away")}
        return kept | unit_row(
            outcomes=len(rows), bytes=len(packed), staged=staged, begun=begun, counted=json.dumps(asdict(counted))
        )

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
