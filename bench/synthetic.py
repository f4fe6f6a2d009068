"""Synthetic traffic for the store benchmark: millions of judged pairs made in SQL, a year of 60 countries and 20 languages."""

from __future__ import annotations

import duckdb

COUNTRIES = 60
DAYS = 365

# hash() spreads row numbers over countries and days without a pattern; 1 % of applicable pairs hold an error.
_ROWS = f"""
    SELECT i, md5(i::VARCHAR) AS pair_id, md5('t' || i) AS content_hash,
           chr(65 + (hash(i) % {COUNTRIES} // 8)::INTEGER) || chr(65 + (hash(i) % {COUNTRIES} % 8)::INTEGER) AS country,
           'l' || hash(i, 1) % 20 AS language, 'app-' || hash(i, 2) % 4 AS app, 'model-' || hash(i, 3) % 3 AS model,
           TIMESTAMPTZ '2025-01-01 00:00:00+00' + to_seconds((hash(i, 4) % {DAYS * 86400})::BIGINT) AS logged_at,
           CASE WHEN hash(i, 5) % 10 < 7 THEN 'not_applicable' WHEN hash(i, 5) % 1000 < 703 THEN 'error'
                ELSE 'correct' END AS status
    FROM range({{first}}, {{last}}) AS numbers(i)"""

_KEYS = "md5_number_lower(pair_id) AS pair_key, ('0x' || left(content_hash, 16))::UBIGINT AS text_key"
_SERIES = "country, language, app, model, logged_at, make_timestamp(epoch_us(logged_at))::DATE AS logged_on, 1.0 AS sample_share"


def fill(connection: duckdb.DuckDBPyConnection, rows: int, judge_version: str, chunk: int = 1_000_000) -> None:
    """Add ``rows`` judged pairs to the lake, with their texts and errors, in chunks of one transaction each."""
    for first in range(0, rows, chunk):
        source = f"({_ROWS.format(first=first, last=min(first + chunk, rows))})"
        connection.execute(f"CREATE OR REPLACE TEMP TABLE made AS SELECT *, {_KEYS} FROM {source}")
        connection.execute("BEGIN")
        connection.execute(
            """INSERT INTO lake.texts BY NAME SELECT text_key, ('0x' || substr(content_hash, 17, 16))::UBIGINT AS text_check, content_hash, 'question ' || i AS instruction,
               'answer ' || i AS output FROM temp.made"""
        )
        connection.execute(
            """INSERT INTO lake.pairs BY NAME SELECT pair_key, text_key, pair_id, content_hash, logged_at, country, language,
               app, model, 1.0 AS sample_share, 'bench' AS source, 0 AS part, i AS "row", 'bench' AS run_id FROM temp.made"""
        )
        connection.execute(
            f"""INSERT INTO lake.verdicts BY NAME SELECT pair_key, text_key, pair_id, $judge AS judge_version, content_hash,
                status, hash(i) % 1000 / 1000 AS score, hash(i, 6) % 1000 / 1000 AS p_error, '{{"errors": []}}' AS report,
                {_SERIES}, logged_at AS judged_at, 'bench' AS run_id, status = 'not_applicable' AS gated FROM temp.made""",
            {"judge": judge_version},
        )
        connection.execute(
            f"""INSERT INTO lake.errors BY NAME SELECT pair_key, pair_id, $judge AS judge_version, 1 AS ordinal,
                'major' AS severity, 'food' AS type, 'customs' AS category, 'output' AS location, 'answer' AS span,
                'because' AS explanation, {_SERIES} FROM temp.made WHERE status = 'error'""",
            {"judge": judge_version},
        )
        connection.execute("COMMIT")
    connection.execute("DROP TABLE IF EXISTS temp.made")
