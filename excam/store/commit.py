"""The only place that writes verdicts: one transaction for a micro-batch, its dead letters and its place in the source.

1. The lease's row is touched under the writer's token: no token, no commit.
2. Pairs are looked up by id. Unknown ones are stored, with their text once per content hash. Known ones with the same
   text change nothing, but for the share they stand for where a log is sampled more. A known id with *another* text is
   a conflict: the newcomer becomes a dead letter.
3. Verdicts that this judge has not given yet are stored, with one row an error.
4. Dead letters are merged, those whose record now has a verdict are marked as resolved, and the ledger moves on; a
   topic's offsets must begin where it stands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import duckdb
import pyarrow as pa

from excam.fault_point import fault_point
from excam.outcome import OUTCOME
from excam.store.connection import transact
from excam.store.dead_letters import OWN_ID, PLACE_ID, merge_dead_letters
from excam.store.keys import PAIR_KEY, TEXT_CHECK, TEXT_KEY
from excam.store.lease import Lease
from excam.store.ledger import LedgerUnit, write_ledger
from excam.store.offsets import OffsetRange, write_ranges
from excam.store.shares import raise_shares
from excam.store.told import tell_commit
from excam.store.url import quote


@dataclass(frozen=True)
class Committed:
    """What a commit changed: ``known`` outcomes were in the store already, ``conflicts`` are among the dead letters."""

    verdicts: int = 0
    known: int = 0
    errors: int = 0
    dead_letters: int = 0
    conflicts: int = 0
    resolved: int = 0


def commit(
    connection: duckdb.DuckDBPyConnection,
    lease: Lease,
    run_id: str,
    judge_version: str,
    staged: Sequence[str | pa.Table],
    units: Sequence[LedgerUnit],
    ranges: Sequence[OffsetRange] = (),
) -> Committed:
    """Store one micro-batch, all of it or nothing; a lost race is tried again from a fresh read."""
    _load_batch(connection, staged, judge_version)

    def write() -> Committed:
        lease.fence(connection)
        _classify(connection, judge_version)
        committed = _write(connection, run_id, judge_version)
        if not ranges:
            raise_shares(connection, judge_version)
        write_ledger(connection, run_id, judge_version, units)
        write_ranges(connection, run_id, judge_version, ranges)
        fault_point("commit-written")
        return committed

    try:
        committed = transact(connection, write)
        tell_commit(connection, run_id, judge_version, committed)
        return committed
    finally:
        for table in ("batch", "held", "named", "claim"):
            connection.execute(f"DROP TABLE IF EXISTS temp.{table}")


def _load_batch(connection: duckdb.DuckDBPyConnection, staged: Sequence[str | pa.Table], judge_version: str) -> None:
    """Bring the staged outcomes into one temporary table, and refuse what no stage should have sent."""
    columns = ", ".join(f'"{name}"' for name in OUTCOME.names)
    files = [part for part in staged if isinstance(part, str)]
    tables = [part for part in staged if not isinstance(part, str)] or [OUTCOME.empty_table()]
    connection.register("staged_tables", pa.concat_tables([table.select(OUTCOME.names) for table in tables]))
    parts = [f"SELECT {columns} FROM staged_tables"]
    if files:
        parts.append(f"SELECT {columns} FROM read_parquet([{', '.join(map(quote, files))}])")
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE batch AS
            SELECT row_number() OVER () AS n, *, {PAIR_KEY} AS pair_key, {TEXT_KEY} AS text_key,
                   {TEXT_CHECK} AS text_check, {PLACE_ID} AS place_id, {OWN_ID} AS own_id,
                   coalesce(replay_of, own_id) AS dead_id
            FROM ({" UNION ALL ".join(parts)})"""
    )
    connection.unregister("staged_tables")
    broken = connection.execute(
        """SELECT source, part, "row", kind, status FROM temp.batch WHERE NOT coalesce(CASE kind
             WHEN 'dead_letter' THEN source IS NOT NULL
             WHEN 'verdict' THEN pair_id IS NOT NULL AND text_key IS NOT NULL AND text_check IS NOT NULL
                  AND status IN ('error', 'correct', 'not_applicable') AND coalesce(judge_version, $judge) = $judge
             ELSE false END, false) LIMIT 1""",
        {"judge": judge_version},
    ).fetchone()
    if broken is not None:
        raise ValueError(f"an outcome that cannot be stored: source, part, row, kind, status = {broken}")


def _classify(connection: duckdb.DuckDBPyConnection, judge_version: str) -> None:
    """Say of every verdict in the batch whether its pair and its verdict are new, known or in conflict.

    Keys settle nearly everything. Names are read only where a pair key is known with another text, to tell a conflict
    from two ids that merely share a key.
    """
    connection.execute(
        """CREATE OR REPLACE TEMP TABLE held AS SELECT DISTINCT pair_key, text_key FROM lake.pairs
           WHERE pair_key IN (SELECT pair_key FROM temp.batch WHERE kind = 'verdict')"""
    )
    disputed = """SELECT pair_key FROM temp.batch WHERE kind = 'verdict'
                  AND pair_key IN (SELECT pair_key FROM temp.held)
                  AND (pair_key, text_key) NOT IN (SELECT (pair_key, text_key) FROM temp.held)"""
    names = "SELECT pair_id, any_value(content_hash) AS content_hash FROM lake.pairs WHERE {} GROUP BY pair_id"
    some = _count(connection, f"SELECT count(*) FROM ({disputed})") > 0
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE named AS {names.format(f'pair_key IN ({disputed})' if some else 'false')}"
    )
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE claim AS
        WITH seen AS (
            SELECT n, pair_key, text_key, pair_id, batch.content_hash, source, part, "row",
                   named.content_hash AS stored,
                   (pair_key, text_key) IN (SELECT (pair_key, text_key) FROM temp.held) AS is_held
            FROM temp.batch LEFT JOIN temp.named USING (pair_id) WHERE kind = 'verdict'
        ),
        settled AS (
            SELECT *, CASE WHEN is_held THEN content_hash ELSE coalesce(stored, first(content_hash) OVER first_come) END
                   AS right_hash
            FROM seen WINDOW first_come AS (PARTITION BY pair_id ORDER BY source, part, "row", n)
        )
        SELECT n, pair_key, text_key, is_held OR stored IS NOT NULL AS is_known,
               content_hash <> right_hash AS is_conflict,
               row_number() OVER (PARTITION BY pair_id, content_hash ORDER BY source, part, "row", n) AS copy,
               false AS is_judged
        FROM settled
        """
    )
    if _count(connection, "SELECT count(*) FROM temp.claim WHERE is_known"):
        connection.execute(
            """UPDATE temp.claim SET is_judged = true WHERE is_known AND (pair_key, text_key) IN (
                   SELECT (pair_key, text_key) FROM lake.verdicts WHERE judge_version = ?
                   AND pair_key IN (SELECT pair_key FROM temp.claim WHERE is_known))""",
            [judge_version],
        )


_NEW = """FROM temp.batch SEMI JOIN (
    SELECT n FROM temp.claim WHERE copy = 1 AND NOT is_conflict AND NOT {known}) USING (n)"""
_NEW_PAIRS = _NEW.format(known="is_known")
_NEW_VERDICTS = _NEW.format(known="is_judged")
_SERIES = """country, language, app, model, logged_at, make_timestamp(epoch_us(logged_at))::DATE AS logged_on,
    sample_share"""


def _write(connection: duckdb.DuckDBPyConnection, run_id: str, judge_version: str) -> Committed:
    run, judge = {"run": run_id}, {"judge": judge_version}
    _insert(
        connection,
        "texts",
        f"""SELECT text_key, text_check, content_hash, any_value(instruction) AS instruction,
                   any_value(output) AS output {_NEW_PAIRS}
            ANTI JOIN (SELECT text_key, text_check FROM lake.texts WHERE text_key IN (SELECT text_key {_NEW_PAIRS}))
            USING (text_key, text_check) GROUP BY text_key, text_check, content_hash""",
    )
    _insert(
        connection,
        "pairs",
        f"""SELECT pair_key, text_key, text_check, pair_id, content_hash, logged_at, country, countries, country_how,
                   language, output_language, app, model, metadata, wrong_language, repetition, sample_share, source,
                   part, "row", $run AS run_id, now() AS first_seen {_NEW_PAIRS}""",
        run,
    )
    verdicts = _insert(
        connection,
        "verdicts",
        f"""SELECT pair_key, text_key, text_check, pair_id, $judge AS judge_version, content_hash, status, score,
                   p_error, p_report,
                   coalesce(len(list_filter(errors, lambda e: e.severity = 'minor')), 0)::INTEGER AS n_minor,
                   coalesce(len(list_filter(errors, lambda e: e.severity = 'major')), 0)::INTEGER AS n_major,
                   report, {_SERIES}, coalesce(judged_at, now()) AS judged_at, $run AS run_id,
                   gated, reused, guided, truncated, wrong_language, repetition {_NEW_VERDICTS}""",
        run | judge,
    )
    errors = _insert(
        connection,
        "errors",
        f"""SELECT pair_key, pair_id, $judge AS judge_version, ordinal, error.severity, error.type, error.category,
                   error.location, error.span, error.start, error."end", error."match", error.explanation, {_SERIES}
            FROM (SELECT *, unnest(errors) AS error, generate_subscripts(errors, 1)::INTEGER AS ordinal
                  {_NEW_VERDICTS})""",
        judge,
    )
    conflicts = _count(connection, "SELECT count(*) FROM temp.claim WHERE is_conflict")
    dead, resolved = merge_dead_letters(connection, run_id, judge_version)
    known = _count(connection, "SELECT count(*) FROM temp.claim WHERE NOT is_conflict") - verdicts
    return Committed(verdicts, known, errors, dead, conflicts, resolved)


def _insert(connection: duckdb.DuckDBPyConnection, table: str, query: str, names: dict[str, str] | None = None) -> int:
    return _count(connection, f"INSERT INTO lake.{table} BY NAME {query}", names)


def _count(connection: duckdb.DuckDBPyConnection, statement: str, names: dict[str, str] | None = None) -> int:
    row = connection.execute(statement, names or {}).fetchone()
    return int(row[0]) if row else 0
