"""Deleting what people said: chosen pairs leave every table in one transaction, then their bytes leave the files.

A log knows a person by a pair's id or by what it kept in a pair's metadata (a user, a conversation), so these and the
day a pair was logged are how pairs are chosen. A text that other pairs share stays with them. Dead letters are chosen
by the same signs in their original record; one that cannot be read is taken when it holds the value at all, because
keeping too little is the lesser harm here.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any

import duckdb
import pyarrow as pa

from excam.fault import UserError
from excam.redact import redacted_id
from excam.shapes import look_up
from excam.store.connection import transact
from excam.store.keys import PAIR_KEY, TEXT_CHECK, TEXT_KEY, pair_key
from excam.store.lease import Lease, meet
from excam.store.mentions import by_names, mentions, same
from excam.store.reviews import FENCE

FORGOTTEN = "the text of this pair was deleted"


@dataclass(frozen=True)
class Selection:
    """Which pairs to delete: all of what is given must hold, so that adding a condition never deletes more."""

    pair_ids: tuple[str, ...] = ()
    metadata: tuple[tuple[str, str], ...] = ()
    before: date | None = None

    def __post_init__(self) -> None:
        if not (self.pair_ids or self.metadata or self.before):
            raise UserError("nothing says which pairs to delete", "name pairs, a metadata value or a day")

    @property
    def names(self) -> list[str]:
        """The ids as a log has them, as a store has those once read as floats, and as pairs have redacted ones."""
        spelled = [*self.pair_ids, *(f"{one}.0" for one in self.pair_ids if one.isdecimal())]
        return [*spelled, *map(redacted_id, spelled)]


@dataclass(frozen=True)
class Forgotten:
    """What was deleted, or would be; ``shared_texts`` stay because pairs that were not chosen have the same text."""

    pairs: int
    texts: int
    shared_texts: int
    verdicts: int
    errors: int
    dead_letters: int
    reviews: int


def find_forgettable(connection: duckdb.DuckDBPyConnection, selection: Selection) -> Forgotten:
    """Count what :func:`forget` would delete now."""
    return transact(connection, lambda: _choose(connection, selection))


def forget(
    connection: duckdb.DuckDBPyConnection, lease: Lease, selection: Selection, *, keep_scores: bool = False
) -> Forgotten:
    """Delete the chosen pairs, in one fenced transaction; their bytes are still there until the store is scrubbed.

    With ``keep_scores`` verdicts stay for the trends without anything that was said or points to who said it: a random
    name instead of the pair's, the day instead of the time, no report, no spans, no explanation.
    """

    def work() -> Forgotten:
        lease.fence(connection)
        found = _choose(connection, selection)
        if found.pairs:
            _leave(connection, keep_scores)
        if found.dead_letters:
            for table in ("dead_letters", "replay_requests"):
                connection.execute(f"DELETE FROM lake.{table} WHERE dead_id IN (SELECT dead_id FROM temp.gone_letters)")
        return found

    def orphans() -> None:
        """A reader may have commented on a report while it was being deleted; whoever does so from now on is refused.

        Apart from the deletion, which takes long and would lose its race to any review.
        """
        meet(connection, FENCE)
        connection.execute(f"DELETE FROM lake.reviews WHERE {_ORPHANED}")

    try:
        found = transact(connection, work)
        transact(connection, orphans)
    finally:
        for table in ("gone", "gone_texts", "gone_letters"):
            connection.execute(f"DROP TABLE IF EXISTS temp.{table}")
    return found


_ORPHANED = "pair_key NOT IN (SELECT pair_key FROM lake.verdicts)"
_GONE = "(pair_key, pair_id || '') IN (SELECT (pair_key, pair_id) FROM temp.gone)"
_GONE_TEXT = "(text_key, text_check) IN (SELECT (text_key, text_check) FROM temp.gone_texts WHERE NOT shared)"


def _choose(connection: duckdb.DuckDBPyConnection, selection: Selection) -> Forgotten:
    """Gather the chosen pairs, their texts and dead letters in temporary tables, and count what hangs on them."""
    condition, values = _condition(selection)
    candidates = f"""SELECT pair_key, pair_id, text_key, text_check, {{}} FROM lake.pairs WHERE {condition}"""
    if selection.metadata:
        rows = connection.execute(candidates.format("metadata"), values).to_arrow_reader(10_000)
        chosen = pa.Table.from_batches(_of_person(rows, selection), rows.schema)
        connection.register("candidates", chosen)
        candidates, values = "FROM candidates", {}
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE gone AS
            SELECT pair_key, pair_id, text_key, text_check, 'forgotten-' || replace(uuid()::VARCHAR, '-', '') AS name,
                   md5(uuid()::VARCHAR) AS content_hash
            FROM ({candidates.format("metadata")})""",
        values,
    )
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE gone_texts AS
            SELECT text_key, text_check, (text_key, text_check) IN (SELECT (text_key, text_check) FROM lake.pairs
                   WHERE text_key IN (SELECT text_key FROM temp.gone) AND NOT {_GONE}) AS shared
            FROM (SELECT DISTINCT text_key, text_check FROM temp.gone)"""
    )
    letters = pa.array(_letters(connection, selection), pa.string())
    connection.register("letters", pa.table({"dead_id": letters}))
    connection.execute("CREATE OR REPLACE TEMP TABLE gone_letters AS FROM letters")
    return Forgotten(
        pairs=_count(connection, "FROM temp.gone"),
        texts=_count(connection, "FROM temp.gone_texts WHERE NOT shared"),
        shared_texts=_count(connection, "FROM temp.gone_texts WHERE shared"),
        verdicts=_count(connection, f"FROM lake.verdicts WHERE {_GONE}"),
        errors=_count(connection, f"FROM lake.errors WHERE {_GONE}"),
        dead_letters=_count(connection, "FROM lake.dead_letters WHERE dead_id IN (FROM temp.gone_letters)"),
        reviews=_count(connection, f"FROM lake.reviews WHERE {_GONE}"),
    )


def _condition(selection: Selection) -> tuple[str, dict[str, Any]]:
    """What the database can tell alone. Ids and values come as parameters within expressions: see decision 044."""
    parts, values = ["true"], dict[str, Any]()
    if selection.pair_ids:
        parts.append("list_contains($keys, pair_key) AND list_contains($ids, pair_id || '')")
        values["ids"] = selection.names
        values["keys"] = [pair_key(name) for name in selection.names]
    if selection.before:
        parts.append("make_timestamp(epoch_us(logged_at))::DATE < $before")
        values["before"] = selection.before
    for number, (_, value) in enumerate(selection.metadata):
        parts.append(f"contains(metadata || '', $value{number})")
        values[f"value{number}"] = json.dumps(value, ensure_ascii=False)[1:-1]
    return " AND ".join(parts), values


def _of_person(rows: pa.RecordBatchReader, selection: Selection) -> Iterator[pa.RecordBatch]:
    """The candidates whose metadata holds the values under the names that were asked for."""
    for batch in rows:
        held = [_holds(text, selection) for text in batch.column("metadata").to_pylist()]
        yield batch.filter(pa.array(held, pa.bool_()))


def _holds(metadata: str, selection: Selection) -> bool:
    opened = by_names(json.loads(metadata))
    if not isinstance(opened, dict):
        return False
    under = opened.get("metadata")
    opened = {**under, **opened} if isinstance(under, dict) else opened
    return all(same(look_up(opened, name), value) for name, value in selection.metadata)


def _letters(connection: duckdb.DuckDBPyConnection, selection: Selection) -> list[str]:
    """The dead letters to delete, by what their records say; the day is the one on which the store got them."""
    rows = connection.execute(
        """SELECT dead_id, pair_id, record FROM lake.dead_letters
           WHERE $before IS NULL OR make_timestamp(epoch_us(first_at))::DATE < $before""",
        {"before": selection.before},
    ).to_arrow_reader(100)
    found = []
    for batch in rows:
        for row in batch.to_pylist():
            named = not selection.pair_ids or row["pair_id"] in selection.names
            if not named and row["pair_id"] is None:
                named = any(mentions(row["record"], None, one) for one in selection.names)
            if named and all(mentions(row["record"], name, value) for name, value in selection.metadata):
                found.append(row["dead_id"])
    return found


def _leave(connection: duckdb.DuckDBPyConnection, keep_scores: bool) -> None:
    """Take the chosen pairs out of every table."""
    if keep_scores:
        day = "date_trunc('day', logged_at)"
        connection.execute(
            f"""UPDATE lake.verdicts AS kept SET
                    pair_id = gone.name, pair_key = {PAIR_KEY.replace("pair_id", "gone.name")},
                    content_hash = gone.content_hash, text_key = {TEXT_KEY.replace("content", "gone.content")},
                    text_check = {TEXT_CHECK.replace("content", "gone.content")},
                    report = NULL, logged_at = {day}, judged_at = date_trunc('day', judged_at)
                FROM temp.gone AS gone WHERE kept.pair_key = gone.pair_key AND kept.pair_id || '' = gone.pair_id"""
        )
        connection.execute(
            f"""UPDATE lake.errors AS kept SET
                    pair_id = gone.name, pair_key = {PAIR_KEY.replace("pair_id", "gone.name")}, logged_at = {day},
                    type = category, span = '', "start" = -1, "end" = -1, "match" = 'not_found',
                    explanation = '{FORGOTTEN}'
                FROM temp.gone AS gone WHERE kept.pair_key = gone.pair_key AND kept.pair_id || '' = gone.pair_id"""
        )
    else:
        for table in ("errors", "verdicts"):
            connection.execute(f"DELETE FROM lake.{table} WHERE {_GONE}")
    for table in ("reviews", "pairs"):
        connection.execute(f"DELETE FROM lake.{table} WHERE {_GONE}")
    connection.execute(f"DELETE FROM lake.texts WHERE {_GONE_TEXT}")


def _count(connection: duckdb.DuckDBPyConnection, rows: str) -> int:
    row = connection.execute(f"SELECT count(*) {rows}").fetchone()
    return int(row[0]) if row else 0
