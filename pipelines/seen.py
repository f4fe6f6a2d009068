"""A text that this judge has judged before takes its stored verdict: the engine never works on it twice."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt

from excam.judgement import error_rows
from excam.outcome import Kind
from excam.store import Store

Row = dict[str, Any]


@lru_cache(maxsize=1)
def _reader(url: str) -> Store:
    """One read-only connection a worker process, opened at the first text that may have been seen."""
    return Store.open(url, read_only=True)


def take_stored_verdicts(rows: list[Row], known: npt.NDArray[np.uint64], store_url: str, judge_version: str) -> None:
    """Fill in the verdicts of pending rows whose text is in the store.

    ``known`` holds the sorted 64-bit prefixes of every text hash this judge has judged: new texts, which are most,
    are told apart without asking the store.
    """
    pending = [row for row in rows if row["kind"] == Kind.PENDING.value]
    if not len(known) or not pending:
        return
    prefixes = np.array([int(row["content_hash"][:16], 16) for row in pending], dtype=np.uint64)
    places = np.searchsorted(known, prefixes).clip(max=len(known) - 1)
    maybe = [row for row, hit in zip(pending, known[places] == prefixes, strict=True) if hit]
    if not maybe:
        return
    stored = _reader(store_url).verdicts_of(judge_version, sorted({row["content_hash"] for row in maybe}))
    by_hash = {verdict["content_hash"]: verdict for verdict in stored.to_pylist()}
    for row in maybe:
        verdict = by_hash.get(row["content_hash"])
        if verdict is not None:
            row.update(verdict)
            row.update(kind=Kind.VERDICT.value, reused=True, judged_at=datetime.now(UTC))
            row["errors"] = error_rows(verdict["report"], row["instruction"], row["output"])
