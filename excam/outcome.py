"""What becomes of one logged record: the Arrow schema that every stage passes on and the store commits.

A record is read once and leaves as exactly one outcome: a *verdict* (judged, taken from an earlier judgement of the
same text, or not applicable), or a *dead letter* that keeps the original record and says why it could not be judged.
"""

from __future__ import annotations

from enum import StrEnum

import pyarrow as pa


class Kind(StrEnum):
    """What a row of the outcome table is; ``pending`` rows have been screened and wait for the judge."""

    PENDING = "pending"
    VERDICT = "verdict"
    DEAD_LETTER = "dead_letter"


TIME = pa.timestamp("us", tz="UTC")

ERROR = pa.struct(
    [
        ("severity", pa.string()),
        ("type", pa.string()),
        ("category", pa.string()),
        ("location", pa.string()),
        ("span", pa.string()),
        ("start", pa.int32()),
        ("end", pa.int32()),
        ("match", pa.string()),
        ("explanation", pa.string()),
    ]
)

# Where the record came from: a file and row, or a topic, partition (as part) and offset (as row). ``replay_of`` is the
# dead letter that it was kept in, when it is tried again.
ORIGIN = [
    ("kind", pa.string()),
    ("source", pa.string()),
    ("part", pa.int64()),
    ("row", pa.int64()),
    ("replay_of", pa.string()),
]

# The pair itself and what screening found out about it.
PAIR = [
    ("pair_id", pa.string()),
    ("content_hash", pa.string()),
    ("instruction", pa.large_string()),
    ("output", pa.large_string()),
    ("logged_at", TIME),
    ("country", pa.string()),
    ("countries", pa.list_(pa.string())),
    ("country_how", pa.string()),
    ("language", pa.string()),
    ("output_language", pa.string()),
    ("app", pa.string()),
    ("model", pa.string()),
    ("metadata", pa.string()),
    ("wrong_language", pa.bool_()),
    ("repetition", pa.bool_()),
    ("sample_share", pa.float64()),
]

# What the judge said. ``gated`` was settled by the relevance gate, ``reused`` taken from the same text judged before,
# ``guided`` written under a grammar after a free report failed to parse, ``truncated`` judged on a shortened text.
VERDICT = [
    ("judge_version", pa.string()),
    ("status", pa.string()),
    ("score", pa.float64()),
    ("p_error", pa.float64()),
    ("p_report", pa.float64()),
    ("report", pa.large_string()),
    ("errors", pa.list_(ERROR)),
    ("judged_at", TIME),
    ("gated", pa.bool_()),
    ("reused", pa.bool_()),
    ("guided", pa.bool_()),
    ("truncated", pa.bool_()),
]

# Why there is no verdict: the stage that gave up, a stable reason code, the message and the original record.
DEAD_LETTER = [
    ("stage", pa.string()),
    ("reason", pa.string()),
    ("detail", pa.large_string()),
    ("record", pa.large_string()),
    ("tries", pa.int32()),
]

OUTCOME = pa.schema([*ORIGIN, *PAIR, *VERDICT, *DEAD_LETTER])


def outcome_table(rows: list[dict[str, object]]) -> pa.Table:
    """Rows as a table of the outcome schema; columns a row does not name are null."""
    return pa.Table.from_pylist(rows, schema=OUTCOME)
