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
        pair_id,
        "SELECT * EXCLUDE (logged_at, run_id, first_seen), epoch_us(logged_at) / 1e6 AS logged_at FROM lake.pairs",
    )
    if not found:
        raise UserError(f"no pair {pair_id!r} in this store", "find some with: excam worst")
    text = connection.execute(
        "SELECT instruction, output FROM lake.texts WHERE text_key = ?::UBIGINT AND text_check = ?::UBIGINT",
        [found[0]["text_key"], found[0]["text_check"]],
    ).to_arrow_table()
    errors = sorted(_rows(connection, pair_id, "SELECT * FROM lake.errors"), key=lambda error: int(error["ordinal"]))
    verdicts = _rows(
        connection,
        pair_id,
        "SELECT * EXCLUDE (judged_at, logged_at), epoch_us(judged_at) / 1e6 AS judged_at FROM lake.verdicts",
    )
    for verdict in verdicts:
        verdict["errors"] = [error for error in errors if error["judge_version"] == verdict["judge_version"]]
    verdicts.sort(key=lambda verdict: float(verdict["judged_at"]), reverse=True)
    return ShownPair.model_validate(found[0] | text.to_pylist()[0] | {"verdicts": verdicts})


def _rows(connection: duckdb.DuckDBPyConnection, pair_id: str, query: str) -> list[dict[str, Any]]:
    """The rows of a pair: found by key, which reads eight bytes a row, then told apart by the id itself."""
    rows = connection.execute(f"{query} WHERE pair_key = ?::UBIGINT", [pair_key(pair_id)]).to_arrow_table()
    return [row for row in rows.to_pylist() if row["pair_id"] == pair_id]
