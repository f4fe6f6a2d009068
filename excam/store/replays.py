"""Requests to try dead letters again: made by people who read, carried out by whoever runs the judge.

A request is a row that is only added. Whether it still waits is read off the dead letter itself: it does until the
letter has been tried again or settled after the request was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime
from enum import StrEnum

import duckdb
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from excam.store.connection import transact
from excam.store.portions import VECTOR, portions


class ReplayState(StrEnum):
    """Waiting for a run, judged since it was asked for, or tried again in vain."""

    WAITING = "waiting"
    JUDGED = "judged"
    FAILED = "failed"


class Replay(BaseModel):
    """The last request to try a dead letter again, and what became of it."""

    model_config = ConfigDict(frozen=True)

    dead_id: str
    judge_version: str
    requested_by: str
    requested_at: datetime
    state: ReplayState


_ASKED = """SELECT dead_id, judge_version, arg_max(requested_by, requested_at) AS requested_by,
                   max(requested_at) AS requested_at FROM lake.replay_requests GROUP BY dead_id, judge_version"""

_STATES = f"""
    SELECT asked.*, CASE WHEN resolved_at IS NOT NULL THEN 'judged' WHEN last_at > requested_at THEN 'failed'
                         ELSE 'waiting' END AS state
    FROM ({_ASKED}) AS asked
    JOIN (SELECT dead_id, judge_version, last_at, resolved_at FROM lake.dead_letters) USING (dead_id, judge_version)"""


def request_replay(connection: duckdb.DuckDBPyConnection, dead_ids: Sequence[str] | None, requested_by: str) -> int:
    """Ask for another try of these dead letters, or of all: open, with a record, and not waiting already."""

    def work() -> int:
        row = connection.execute(
            f"""
            INSERT INTO lake.replay_requests
            SELECT dead_id, judge_version, $who, now() FROM lake.dead_letters
            WHERE resolved_at IS NULL AND record IS NOT NULL AND ($ids IS NULL OR list_contains($ids, dead_id))
              AND (dead_id, judge_version) NOT IN (
                  SELECT (dead_id, judge_version) FROM ({_STATES}) WHERE state = 'waiting')
            """,
            {"who": requested_by, "ids": list(dead_ids) if dead_ids is not None else None},
        ).fetchone()
        return int(row[0]) if row else 0

    return transact(connection, work)


def replays(connection: duckdb.DuckDBPyConnection, dead_ids: Sequence[str] | None = None) -> list[Replay]:
    """The last request for each dead letter that has one, the latest first."""
    rows = connection.execute(
        f"""SELECT * EXCLUDE (requested_at), epoch_us(requested_at) / 1e6 AS requested_at FROM ({_STATES}) AS states
            WHERE $ids IS NULL OR list_contains($ids, dead_id) ORDER BY states.requested_at DESC, dead_id""",
        {"ids": list(dead_ids) if dead_ids is not None else None},
    ).to_arrow_table()
    return [Replay.model_validate(row) for row in rows.to_pylist()]


def waiting_replays(connection: duckdb.DuckDBPyConnection, judge_version: str | None = None) -> list[str]:
    """Dead letters that somebody asked to try again and nobody has yet, for this judge or for any."""
    waiting = [one for one in replays(connection) if one.state is ReplayState.WAITING]
    return [one.dead_id for one in waiting if judge_version in (None, one.judge_version)]


def open_letters(
    connection: duckdb.DuckDBPyConnection, judge_version: str, dead_ids: Sequence[str] | None, rows: int
) -> Iterator[pa.Table]:
    """This judge's unresolved dead letters, all or those named, with their records, in portions that fit in memory."""
    reader = connection.execute(
        """SELECT dead_id, source, part, "row", stage, record FROM lake.dead_letters
           WHERE resolved_at IS NULL AND judge_version = $judge
             AND ($ids IS NULL OR dead_id IN (SELECT unnest($ids::VARCHAR[])))""",
        {"judge": judge_version, "ids": list(dead_ids) if dead_ids is not None else None},
    ).to_arrow_reader(VECTOR)
    return portions(reader, rows)


def open_records(connection: duckdb.DuckDBPyConnection, judge_version: str) -> int:
    """How many records wait for a replay by this judge."""
    asked = """SELECT count(*) FROM lake.dead_letters
               WHERE judge_version = ? AND resolved_at IS NULL AND record IS NOT NULL"""
    (count,) = connection.execute(asked, [judge_version]).fetchall()[0]
    return int(count)
