"""Everything the store knows about one pair."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import duckdb
from pydantic import BaseModel, ConfigDict

from excam.fault import UserError
from excam.store.keys import pair_key


class ShownError(BaseModel):
    """An error with its place in the text: character offsets into ``location``, -1 where the span was not found."""

    model_config = ConfigDict(frozen=True)

    severity: str
    type: str
    category: str | None
    location: str
    span: str
    start: int | None
    end: int | None
    match: str | None
    explanation: str


class ShownVerdict(BaseModel):
    """What one judge said of the pair."""

    model_config = ConfigDict(frozen=True)

    judge_version: str
    status: str
    score: float | None
    p_error: float | None
    p_report: float | None
    judged_at: datetime
    run_id: str
    gated: bool | None
    reused: bool | None
    guided: bool | None
    truncated: bool | None
    errors: list[ShownError]


class ShownPair(BaseModel):
    """A logged pair with every judge's verdict on it, the latest first."""

    model_config = ConfigDict(frozen=True)

    pair_id: str
    content_hash: str
    instruction: str
    output: str
    logged_at: datetime
    country: str | None
    countries: list[str] | None
    country_how: str | None
    language: str | None
    output_language: str | None
    app: str | None
    model: str | None
    metadata: str | None
    wrong_language: bool | None
    repetition: bool | None
    sample_share: float | None
    source: str | None
    part: int | None
    row: int | None
    verdicts: list[ShownVerdict]


def show_pair(connection: duckdb.DuckDBPyConnection, pair_id: str) -> ShownPair:
    """The pair with this id; a mistake of the user when the store has none."""
    found = _rows(
        connection,
        """SELECT * EXCLUDE (logged_at, run_id, first_seen), epoch_us(logged_at) / 1e6 AS logged_at
           FROM lake.pairs WHERE pair_key = $key AND pair_id || '' = $id""",
        pair_id,
    )
    if not found:
        raise UserError(f"no pair {pair_id!r} in this store", "find some with: excam worst")
    text = connection.execute(
        "SELECT instruction, output FROM lake.texts WHERE text_key = ? AND text_check = ?",
        [found[0]["text_key"], found[0]["text_check"]],
    ).to_arrow_table()
    errors = _rows(
        connection, "SELECT * FROM lake.errors WHERE pair_key = $key AND pair_id || '' = $id ORDER BY ordinal", pair_id
    )
    verdicts = _rows(
        connection,
        """SELECT * EXCLUDE (judged_at, logged_at), epoch_us(judged_at) / 1e6 AS judged_at FROM lake.verdicts
           WHERE pair_key = $key AND pair_id || '' = $id ORDER BY judged_at DESC""",
        pair_id,
    )
    for verdict in verdicts:
        verdict["errors"] = [error for error in errors if error["judge_version"] == verdict["judge_version"]]
    return ShownPair.model_validate(found[0] | text.to_pylist()[0] | {"verdicts": verdicts})


def _rows(connection: duckdb.DuckDBPyConnection, query: str, pair_id: str) -> list[dict[str, Any]]:
    table = connection.execute(query, {"key": pair_key(pair_id), "id": pair_id}).to_arrow_table()
    rows: list[dict[str, Any]] = table.to_pylist()
    return rows
