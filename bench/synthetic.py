"""Synthetic traffic for the store benchmark: millions of judged pairs made in SQL, a year of it, 60 countries."""

from __future__ import annotations

import duckdb

from excam.store.keys import PAIR_KEY, TEXT_CHECK, TEXT_KEY

DAYS = 365

# Pairs come in the order they were logged, as logs do; hash() spreads them over countries without a pattern. Seven
# pairs of ten are not about culture, eight of a hundred of the others hold an error.
_ROWS = f"""
    SELECT i, md5('p' || i) AS pair_id, md5('t' || i) AS content_hash,
           chr((65 + hash(i) % 60 // 8)::INTEGER) || chr((65 + hash(i) % 60 % 8)::INTEGER) AS country,
           'l' || hash(i, 1) % 20 AS language, 'app-' || hash(i, 2) % 4 AS app, 'model-' || hash(i, 3) % 3 AS model,
           TIMESTAMPTZ '2025-01-01 00:00:00+00' + to_seconds(i * {DAYS * 86400} // {{rows}}) AS logged_at,
           CASE WHEN hash(i, 5) % 1000 < 700 THEN 'not_applicable' WHEN hash(i, 5) % 1000 < 724 THEN 'error'
                ELSE 'correct' END AS status
    FROM range({{first}}, {{last}}) AS numbers(i)"""
_SERIES = """country, language, app, model, logged_at, make_timestamp(epoch_us(logged_at))::DATE AS logged_on,
    1.0 AS sample_share"""

_INSERTS = {
    "texts": """SELECT text_key, text_check, content_hash, 'question ' || i AS instruction, 'answer ' || i AS output
                FROM temp.made""",
    "pairs": """SELECT pair_key, text_key, text_check, pair_id, content_hash, logged_at, country, language, app, model,
                       1.0 AS sample_share, 'bench' AS source, 0 AS part, i AS "row", 'bench' AS run_id,
                       logged_at AS first_seen FROM temp.made""",
    "verdicts": f"""SELECT pair_key, text_key, text_check, pair_id, '{{judge}}' AS judge_version, content_hash, status,
                           hash(i) % 1000 / 1000 AS score, hash(i, 6) % 1000 / 1000 AS p_error,
                           '{{{{"errors": []}}}}' AS report, {_SERIES}, logged_at AS judged_at, 'bench' AS run_id,
                           status = 'not_applicable' AS gated FROM temp.made""",
    "errors": f"""SELECT pair_key, pair_id, '{{judge}}' AS judge_version, 1 AS ordinal, 'major' AS severity,
                         'food' AS type, 'customs' AS category, 'output' AS location, 'answer' AS span,
                         'because' AS explanation, {_SERIES} FROM temp.made WHERE status = 'error'""",
}


def fill(connection: duckdb.DuckDBPyConnection, rows: int, judge_version: str, chunk: int = 1_000_000) -> None:
    """Add ``rows`` judged pairs to the lake, with their texts and errors, in chunks of one transaction each."""
    for first in range(0, rows, chunk):
        made = _ROWS.format(first=first, last=min(first + chunk, rows), rows=rows)
        connection.execute(
            f"""CREATE OR REPLACE TEMP TABLE made AS SELECT *, {PAIR_KEY} AS pair_key, {TEXT_KEY} AS text_key,
                {TEXT_CHECK} AS text_check FROM ({made})"""
        )
        connection.execute("BEGIN")
        for table, query in _INSERTS.items():
            connection.execute(f"INSERT INTO lake.{table} BY NAME {query.format(judge=judge_version)}")
        connection.execute("COMMIT")
    connection.execute("DROP TABLE IF EXISTS temp.made")
