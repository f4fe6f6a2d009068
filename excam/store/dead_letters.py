"""Records that could not be judged: kept with what was found, so that they can be looked at, mended and tried again."""

from __future__ import annotations

from collections.abc import Sequence

import duckdb
import pyarrow as pa

from excam.fault import UserError
from excam.store.connection import transact
from excam.store.lease import Lease

CONFLICT = "pair_id_conflict"

# A record keeps one id however often it fails: a pair by its name and text, wherever it is met, and what could not be
# read as a pair by its place. A replayed record has the id of the letter it comes from (docs/decisions/162).
PLACE_ID = """left(sha256(coalesce(source, '') || '|' || coalesce(part, -1) || '|' || coalesce("row", -1)), 16)"""
_PAIR_ID = "left(sha256('pair|' || pair_id || '|' || coalesce({}content_hash, '')), 16)"
OWN_ID = f"coalesce({_PAIR_ID.format('')}, {PLACE_ID})"


# The batch's records that have a verdict now, and the open dead letters of this judge that they settle: those of the
# same pair and text, those they were replayed from, and at their places those of no pair. A conflict is settled where
# its log was mended: at its place stands its text, under an id of its own.
_JUDGED = "FROM temp.batch SEMI JOIN (SELECT n FROM temp.claim WHERE NOT is_conflict) USING (n)"
_MENDED = f"""SELECT dead_id
    FROM (SELECT dead_id, pair_id, source, part, "row" FROM lake.dead_letters WHERE reason || '' = '{CONFLICT}')
    JOIN (SELECT source, part, "row", content_hash {_JUDGED}) AS judged USING (source, part, "row")
    WHERE dead_id = {_PAIR_ID.format("judged.")}"""
_SETTLED = f"""resolved_at IS NULL AND judge_version || '' = $judge AND (
    dead_id IN (SELECT unnest([own_id, replay_of]) {_JUDGED}) OR
    pair_id IS NULL AND dead_id IN (SELECT place_id {_JUDGED}) OR
    reason || '' = '{CONFLICT}' AND dead_id IN ({_MENDED}))"""


def merge_dead_letters(connection: duckdb.DuckDBPyConnection, run_id: str, judge_version: str) -> tuple[int, int]:
    """Store the batch's dead letters and its conflicts, inside the caller's transaction; a verdict resolves older ones.

    Returns how many dead letters were stored and how many were resolved. It reads the temporary tables of the commit.
    """
    connection.execute(
        f"""
        CREATE OR REPLACE TEMP TABLE fallen AS
        WITH judged AS (SELECT unnest([own_id, replay_of, place_id]) AS dead_id {_JUDGED}),
        fallen AS (
            SELECT n, dead_id, pair_id, source, part, "row", stage, reason, detail, record, coalesce(tries, 1) AS tries
            FROM temp.batch WHERE kind = 'dead_letter'
            UNION ALL
            SELECT n, dead_id, pair_id, source, part, "row", 'commit', '{CONFLICT}',
                   'the store already holds this pair_id with another text; this record was not judged under it',
                   to_json(struct_pack(pair_id, instruction, output, logged_at := logged_at::VARCHAR, country, language,
                                       app, model, metadata, sample_share))::VARCHAR, 1
            FROM temp.batch SEMI JOIN (SELECT n FROM temp.claim WHERE is_conflict) USING (n)
        )
        SELECT DISTINCT ON (dead_id) * FROM fallen ANTI JOIN judged USING (dead_id) ORDER BY dead_id, n
        """
    )
    stored = resolved = 0
    judge = {"judge": judge_version}
    if _changed(connection.execute("SELECT count(*) FROM temp.fallen")):
        stored = _changed(
            connection.execute(
                """
                MERGE INTO lake.dead_letters AS stored USING temp.fallen AS fallen
                ON stored.dead_id = fallen.dead_id AND stored.judge_version = $judge
                WHEN MATCHED THEN UPDATE SET
                    pair_id = fallen.pair_id, stage = fallen.stage, reason = fallen.reason, detail = fallen.detail,
                    record = fallen.record, tries = stored.tries + fallen.tries, last_at = now(), run_id = $run,
                    resolved_at = NULL, resolved_by = NULL
                WHEN NOT MATCHED THEN INSERT
                    (dead_id, judge_version, pair_id, source, part, "row", stage, reason, detail, record, tries,
                     first_at, last_at, run_id)
                    VALUES (fallen.dead_id, $judge, fallen.pair_id, fallen.source, fallen.part, fallen."row",
                            fallen.stage, fallen.reason, fallen.detail, fallen.record, fallen.tries, now(), now(), $run)
                """,
                judge | {"run": run_id},
            )
        )
    if _changed(connection.execute(f"SELECT count(*) FROM lake.dead_letters WHERE {_SETTLED}", judge)):
        resolved = _changed(
            connection.execute(
                f"UPDATE lake.dead_letters SET resolved_at = now(), resolved_by = $run WHERE {_SETTLED}",
                judge | {"run": run_id},
            )
        )
    connection.execute("DROP TABLE temp.fallen")
    return stored, resolved


def list_dead_letters(
    connection: duckdb.DuckDBPyConnection,
    *,
    judge_version: str | None = None,
    reason: str | None = None,
    include_resolved: bool = False,
    limit: int | None = 100,
) -> pa.Table:
    """Dead letters without their records, the latest first."""
    return connection.execute(
        """SELECT dead_id, judge_version, pair_id, source, part, "row", stage, reason, detail, tries, first_at, last_at,
                  run_id, resolved_at, resolved_by
           FROM lake.dead_letters
           WHERE ($judge IS NULL OR judge_version = $judge) AND ($reason IS NULL OR reason || '' = $reason)
             AND ($resolved OR resolved_at IS NULL)
           ORDER BY last_at DESC, dead_id LIMIT $limit""",
        {"judge": judge_version, "reason": reason, "resolved": include_resolved, "limit": limit},
    ).to_arrow_table()


def show_dead_letter(connection: duckdb.DuckDBPyConnection, dead_id: str) -> pa.Table:
    """Everything about one dead letter, one row a judge; a unique beginning of the id is enough."""
    table: pa.Table = connection.execute(
        "SELECT * FROM lake.dead_letters WHERE starts_with(dead_id || '', ?) ORDER BY last_at DESC", [dead_id]
    ).to_arrow_table()
    ids = set(table.column("dead_id").to_pylist())
    if not ids:
        raise UserError(f"no dead letter {dead_id!r}", "see them with: excam dead-letters list")
    if len(ids) > 1:
        raise UserError(f"{dead_id!r} is the beginning of {len(ids)} dead letters", "write more of the id")
    return table


def resolve_dead_letters(
    connection: duckdb.DuckDBPyConnection, lease: Lease, dead_ids: Sequence[str], resolved_by: str
) -> int:
    """Mark dead letters as dealt with by hand; a commit marks those whose record got a verdict by itself."""

    def resolve() -> int:
        lease.fence(connection)
        return _changed(
            connection.execute(
                """UPDATE lake.dead_letters SET resolved_at = now(), resolved_by = ?
                   WHERE resolved_at IS NULL AND list_contains(?, dead_id)""",
                [resolved_by, list(dead_ids)],
            )
        )

    return transact(connection, resolve)


def _changed(connection: duckdb.DuckDBPyConnection) -> int:
    row = connection.fetchone()
    return int(row[0]) if row else 0


def missing_field(connection: duckdb.DuckDBPyConnection, run_id: str) -> str | None:
    """What a run's dead letters say, if it is of all of them that the same field is missing."""
    asked = """SELECT count(DISTINCT split_part(told, ': is missing', 1)), bool_and(contains(told, ': is missing')),
                      min(told)
               FROM (SELECT substr(detail, length(source || ', row ' || "row" || ', ') + 1) AS told
                     FROM lake.dead_letters WHERE run_id = ? AND reason || '' <> 'unreadable_file')"""
    ((fields, all_missing, told),) = connection.execute(asked, [run_id]).fetchall()
    return str(told) if fields == 1 and all_missing else None
