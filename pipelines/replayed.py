"""Dead letters as a log of their own: each original record with its letter and the place it came from."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa

JUDGE_STAGE = "judge"
PAIR_STAGES = (JUDGE_STAGE, "commit")  # whose letters keep a record as the pair that it was read as
REPLAY_STAGE = "excam_replay_stage"
_RECORD, _LETTER = "excam_replay_record", "excam_replay_letter"
_SOURCE, _PART, _ROW = "excam_replay_source", "excam_replay_part", "excam_replay_row"


def replay_table(letters: pa.Table) -> pa.Table:
    """Exported dead letters in the form that the read stage recognises."""
    columns = {
        _RECORD: letters["record"],
        _LETTER: letters["dead_id"],
        _SOURCE: letters["source"],
        _PART: letters["part"],
        _ROW: letters["row"],
        REPLAY_STAGE: letters["stage"],
    }
    return pa.table(columns)


def replayed_record(raw: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The original record and its origin, when ``raw`` is a replayed dead letter; None for any other record."""
    if REPLAY_STAGE not in raw or _RECORD not in raw:
        return None
    record = json.loads(raw[_RECORD])
    return record, {"source": raw[_SOURCE], "part": raw[_PART], "row": raw[_ROW], "replay_of": raw[_LETTER]}
