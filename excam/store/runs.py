"""Who judged and when: the judges a store knows and the runs that filled it."""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

import duckdb
import pyarrow as pa

from excam.judge_card import JudgeCard
from excam.logs import bind, event, unbind
from excam.store.connection import transact
from excam.store.holder import this_process
from excam.store.lease import Lease, meet

RUNNING = "running"


def register_judge(connection: duckdb.DuckDBPyConnection, card: JudgeCard) -> str:
    """Keep the card of a judge, so that a verdict can always be traced to weights, prompt and decoding.

    This needs no lease: a fence row of its own keeps two processes from storing the same card twice.
    """
    version = card.judge_version

    def work() -> None:
        known = connection.execute("SELECT 1 FROM lake.judges WHERE judge_version = ?", [version]).fetchone()
        if known is None:
            meet(connection, "judges")
            connection.execute("INSERT INTO lake.judges VALUES (?, ?, now())", [version, card.model_dump_json()])

    transact(connection, work)
    return version


def start_run(
    connection: duckdb.DuckDBPyConnection, lease: Lease, kind: str, judge_version: str, arguments: Mapping[str, Any]
) -> str:
    """Open a run; its id sorts by time. A run whose process dies is closed as interrupted by the next writer."""
    run_id = f"{datetime.now(UTC):%Y%m%dT%H%M%S}-{secrets.token_hex(3)}"
    told = json.dumps(dict(arguments), default=str, ensure_ascii=True)
    under_lease(
        connection,
        lease,
        lambda: connection.execute(
            "INSERT INTO lake.runs VALUES (?, ?, ?, now(), NULL, ?, ?, NULL, ?)",
            [run_id, kind, judge_version, RUNNING, told, str(this_process())],
        ),
    )
    bind(run_id=run_id, judge_version=judge_version)
    event("run_started", kind=kind)
    return run_id


def end_run(
    connection: duckdb.DuckDBPyConnection, lease: Lease, run_id: str, state: str, counts: Mapping[str, Any]
) -> None:
    """Close a run with how it ended and what it counted."""
    told = json.dumps(dict(counts), default=str, ensure_ascii=True)
    under_lease(
        connection,
        lease,
        lambda: connection.execute(
            "UPDATE lake.runs SET ended_at = now(), state = ?, counts = ? WHERE run_id = ?", [state, told, run_id]
        ),
    )
    event("run_ended", run_id=run_id, state=state, counts=dict(counts))
    unbind()


def list_runs(connection: duckdb.DuckDBPyConnection, limit: int = 50) -> pa.Table:
    """The latest runs first."""
    return connection.execute(
        "SELECT * FROM lake.runs ORDER BY started_at DESC, run_id DESC LIMIT ?", [limit]
    ).to_arrow_table()


def under_lease(connection: duckdb.DuckDBPyConnection, lease: Lease, work: Callable[[], object]) -> None:
    """Do ``work`` in one fenced transaction, again from the start when it loses a race."""

    def fenced() -> None:
        lease.fence(connection)
        work()

    transact(connection, fenced)
