"""What a commit did, for the log: one line for the commit, one for every dead letter, and on demand one a verdict."""

from __future__ import annotations

import logging
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import duckdb

from excam.logs import event, log
from excam.store.dead_letters import CONFLICT

if TYPE_CHECKING:
    from excam.store.commit import Committed

_DEAD = f"""SELECT pair_id, source, part, "row", coalesce(stage, 'commit') AS stage,
           coalesce(reason, '{CONFLICT}') AS reason
    FROM temp.batch WHERE kind = 'dead_letter' OR n IN (SELECT n FROM temp.claim WHERE is_conflict)"""
_VERDICTS = """SELECT pair_id, source, part, "row", status, score, p_error, gated, reused
    FROM temp.batch WHERE kind = 'verdict' AND n NOT IN (SELECT n FROM temp.claim WHERE is_conflict)"""


def tell_commit(connection: duckdb.DuckDBPyConnection, run_id: str, judge_version: str, done: Committed) -> None:
    """Tell of a commit that has happened, from its own temporary tables; with logging off nothing is read."""
    if not log.isEnabledFor(logging.INFO):
        return
    who: dict[str, Any] = {"run_id": run_id, "judge_version": judge_version}
    event("committed", **who, **asdict(done))
    for name, query, level in (("dead_letter", _DEAD, logging.INFO), ("verdict", _VERDICTS, logging.DEBUG)):
        if log.isEnabledFor(level):
            for batch in connection.execute(query).to_arrow_reader(10_000):
                for row in batch.to_pylist():
                    event(name, level, **who, **row)
