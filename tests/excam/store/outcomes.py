"""Outcomes for store tests: one line each, everything a test does not care about filled in."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa

from excam.judge_card import JudgeCard
from excam.outcome import outcome_table
from excam.pair import content_hash
from excam.store import Committed, Lease, LedgerUnit, Store

START = datetime(2025, 3, 3, 12, tzinfo=UTC)  # a Monday
CARD = JudgeCard(base="tiny", base_sha256="0" * 64, prompt_sha256="1" * 64, decoding={"temperature": 0})
TUNED = CARD.model_copy(update={"adapter": "culture@1", "adapter_sha256": "2" * 64})
JUDGE = CARD.judge_version


def error(**changes: Any) -> dict[str, Any]:
    return {
        "severity": "major",
        "type": "wrong custom",
        "category": "customs",
        "location": "output",
        "span": "left hand",
        "start": 10,
        "end": 19,
        "match": "exact",
        "explanation": "the left hand is not used for eating",
    } | changes


def verdict(number: int = 0, **changes: Any) -> dict[str, Any]:
    """A correct verdict on pair ``p<number>``; naming ``errors`` makes it an erroneous one."""
    row: dict[str, Any] = {
        "kind": "verdict",
        "source": "file:///logs/a.parquet",
        "part": 0,
        "row": number,
        "pair_id": f"p{number}",
        "instruction": f"How do people eat, question {number}?",
        "output": "With the left hand.",
        "logged_at": START + timedelta(hours=number),
        "country": "ID",
        "countries": ["ID"],
        "country_how": "text",
        "language": "en",
        "output_language": "en",
        "app": "travel",
        "model": "bot-1",
        "metadata": "{}",
        "wrong_language": False,
        "repetition": False,
        "sample_share": 1.0,
        "judge_version": None,
        "status": "error" if changes.get("errors") else "correct",
        "score": 0.9,
        "p_error": 0.1,
        "p_report": 0.9,
        "report": '{"errors": []}',
        "errors": [],
        "judged_at": START,
        "gated": False,
        "reused": False,
        "guided": False,
        "truncated": False,
    }
    row |= changes
    row.setdefault("content_hash", content_hash(row["instruction"], row["output"]))
    return row


def dead_letter(number: int = 0, **changes: Any) -> dict[str, Any]:
    return {
        "kind": "dead_letter",
        "source": "file:///logs/a.parquet",
        "part": 0,
        "row": number,
        "stage": "read",
        "reason": "missing_output",
        "detail": "row has no output",
        "record": '{"output": null}',
        "tries": 1,
    } | changes


def unit(part: int = 0, **changes: Any) -> LedgerUnit:
    fields: dict[str, Any] = {"source": "file:///logs/a.parquet", "part": part, "fingerprint": "v1", "rows_total": 1}
    return LedgerUnit(**fields | changes)


def put(
    store: Store, *rows: dict[str, Any], lease: Lease | None = None, judge: JudgeCard = CARD, units: Any = ()
) -> Committed:
    """Commit these outcomes, as of a run that is not on record: to put it there would take as long again."""
    if lease is None:
        with store.lease("test") as lease:
            return put(store, *rows, lease=lease, judge=judge, units=units)
    version = store.register_judge(judge)
    return store.commit(lease, "run", version, [outcome_table(list(rows))], units)


def put_run(store: Store, *rows: dict[str, Any], judge: JudgeCard = CARD) -> Committed:
    """Commit these outcomes in a run on record."""
    with store.lease("test") as lease:
        version = store.register_judge(judge)
        run_id = store.start_run(lease, "score", version, {})
        committed = store.commit(lease, run_id, version, [outcome_table(list(rows))], ())
        store.end_run(lease, run_id, "done", {})
    return committed


def rows_of(store: Store, query: str, **values: Any) -> list[dict[str, Any]]:
    """The answer to a query on the lake, as dictionaries."""
    table: pa.Table = store.query(lambda connection: connection.execute(query, values).to_arrow_table())
    found: list[dict[str, Any]] = table.to_pylist()
    return found


def open_letters(store: Store) -> list[dict[str, Any]]:
    """The dead letters that nobody and nothing has resolved, with their records, in the order of their logs."""
    return rows_of(store, 'SELECT * FROM lake.dead_letters WHERE resolved_at IS NULL ORDER BY source, part, "row"')


def place_id(row: int) -> str:
    """The id of the dead letter of a row of the log that could not be read as a pair."""
    return hashlib.sha256(f"file:///logs/a.parquet|0|{row}".encode()).hexdigest()[:16]


def count(store: Store, table: str, condition: str = "true") -> int:
    return int(rows_of(store, f"SELECT count(*) AS n FROM lake.{table} WHERE {condition}")[0]["n"])
