"""``/api/judges``, ``/api/runs`` and ``/api/dead-letters``: who judged, when, what could not be judged, and replays."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, Field

from excam.store.dead_letters import list_dead_letters, show_dead_letter
from excam.store.queries.judges import JudgeUse, list_judges
from excam.store.replays import Replay, replays, request_replay
from excam.store.runs import list_runs
from serve.dashboard.access import reviewing
from serve.dashboard.source import StoreSource
from serve.dashboard.state import Id, Source

router = APIRouter(prefix="/api", tags=["records"])

Limit = Annotated[int, Query(ge=1, le=500)]
Offset = Annotated[int, Query(ge=0, le=100_000)]


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
    """A record without a verdict, where it came from, and whether somebody asked to try it again."""

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
    replay: Replay | None = None


class FullDeadLetter(DeadLetter):
    """A dead letter with the original record."""

    record: str | None


@router.get("/judges")
def get_judges(source: Source) -> list[JudgeUse]:
    """Every judge in the store, the one used last first."""
    return source.recall(list_judges)


@router.get("/runs")
def get_runs(source: Source, limit: Limit = 50, offset: Offset = 0) -> list[Run]:
    """The latest runs."""
    return [Run.model_validate(row) for row in source.ask(list_runs, offset + limit).slice(offset).to_pylist()]


@router.get("/dead-letters")
def get_dead_letters(
    request: Request,
    source: Source,
    reason: str | None = None,
    include_resolved: bool = False,
    limit: Limit = 50,
    offset: Offset = 0,
) -> list[DeadLetter]:
    """Records that could not be judged, the latest first."""
    found = source.ask(
        list_dead_letters, reason=reason or None, include_resolved=include_resolved, limit=offset + limit
    )
    letters = [DeadLetter.model_validate(row) for row in found.slice(offset).to_pylist()]
    asked = _asked(source, [letter.dead_id for letter in letters])
    _note(request, "listed", letters)
    return [
        letter.model_copy(update={"replay": asked.get((letter.dead_id, letter.judge_version))}) for letter in letters
    ]


@router.get("/dead-letters/{dead_id}")
def get_dead_letter(request: Request, source: Source, dead_id: str) -> FullDeadLetter:
    """One dead letter with its original record."""
    letter = FullDeadLetter.model_validate(source.ask(show_dead_letter, dead_id).to_pylist()[0])
    asked = _asked(source, [letter.dead_id])
    _note(request, "viewed", [letter])
    return letter.model_copy(update={"replay": asked.get((letter.dead_id, letter.judge_version))})


class NewReplay(BaseModel):
    """Which dead letters to try again: those named, or with None every open one."""

    dead_ids: list[Id] | None = Field(max_length=500)


class Requested(BaseModel):
    """How many requests were added; a letter that waits already is not asked for twice."""

    requested: int


@router.post("/replays", status_code=201)
def post_replay(request: Request, source: Source, asked: NewReplay) -> Requested:
    """Ask that dead letters be judged again; `excam dead-letters replay --requested` carries it out."""
    return keep_replay(request, source, asked.dead_ids)


def keep_replay(request: Request, source: StoreSource, dead_ids: list[str] | None) -> Requested:
    person = reviewing(request.state.person)
    return Requested(requested=source.write(request_replay, dead_ids, person.name))


def _note(request: Request, what: str, letters: Sequence[DeadLetter]) -> None:
    """A letter's detail and its record hold logged text."""
    if letters:
        pairs = [letter.pair_id for letter in letters if letter.pair_id is not None]
        request.app.state.audit.note(request, what, pairs, [letter.dead_id for letter in letters])


def _asked(source: StoreSource, dead_ids: list[str]) -> dict[tuple[str, str | None], Replay]:
    found = source.ask(replays, dead_ids) if dead_ids else []
    return {(one.dead_id, one.judge_version): one for one in found}
