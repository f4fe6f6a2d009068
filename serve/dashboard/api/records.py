"""``/api/judges``, ``/api/runs`` and ``/api/dead-letters``: who judged, when, and what could not be judged."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel

from excam.store.dead_letters import list_dead_letters, show_dead_letter
from excam.store.queries.judges import JudgeUse, list_judges
from excam.store.runs import list_runs
from serve.dashboard.state import Source

router = APIRouter(prefix="/api", tags=["records"])

Limit = Annotated[int, Query(ge=1, le=500)]


class Run(BaseModel):
    """A run that wrote to the store; ``counts`` is JSON text."""

    run_id: str
    kind: str
    judge_version: str
    started_at: datetime
    ended_at: datetime | None
    state: str
    counts: str | None


class DeadLetter(BaseModel):
    """A record without a verdict, and where it came from."""

    dead_id: str
    judge_version: str | None
    pair_id: str | None
    source: str | None
    part: int | None
    row: int | None
    stage: str | None
    reason: str | None
    detail: str | None
    tries: int | None
    first_at: datetime
    last_at: datetime
    resolved_at: datetime | None
    resolved_by: str | None


class FullDeadLetter(DeadLetter):
    """A dead letter with the original record."""

    record: str | None


@router.get("/judges")
def get_judges(source: Source) -> list[JudgeUse]:
    """Every judge in the store, the one used last first."""
    return source.ask(list_judges)


@router.get("/runs")
def get_runs(source: Source, limit: Limit = 50) -> list[Run]:
    """The latest runs."""
    return [Run.model_validate(row) for row in source.ask(list_runs, limit).to_pylist()]


@router.get("/dead-letters")
def get_dead_letters(
    source: Source, reason: str | None = None, include_resolved: bool = False, limit: Limit = 50
) -> list[DeadLetter]:
    """Records that could not be judged, the latest first."""
    found = source.ask(list_dead_letters, reason=reason or None, include_resolved=include_resolved, limit=limit)
    return [DeadLetter.model_validate(row) for row in found.to_pylist()]


@router.get("/dead-letters/{dead_id}")
def get_dead_letter(source: Source, dead_id: str) -> FullDeadLetter:
    """One dead letter with its original record."""
    return FullDeadLetter.model_validate(source.ask(show_dead_letter, dead_id).to_pylist()[0])
