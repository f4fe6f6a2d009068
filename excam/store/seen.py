"""What a judge has judged already, for the two that need to know: reuse of a verdict, and a new judge's backlog."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from excam.store.keys import TEXT_KEY
from excam.store.url import quote


def known_hashes(connection: duckdb.DuckDBPyConnection, judge_version: str) -> npt.NDArray[np.uint64]:
    """The first 64 bits of every content hash this judge has judged, sorted: a cheap "seen before?" filter.

    Verdicts of the relevance gate count too, since the gate belongs to the judge's identity. A hit must be confirmed
    with :func:`verdicts_of`, which compares whole hashes.
    """
    columns: dict[str, Any] = connection.execute(
        "SELECT DISTINCT text_key FROM lake.verdicts WHERE judge_version = ?", [judge_version]
    ).fetchnumpy()
    keys = np.asarray(columns["text_key"], dtype=np.uint64)
    keys.sort()
    return keys


def verdicts_of(connection: duckdb.DuckDBPyConnection, judge_version: str, content_hashes: list[str]) -> pa.Table:
    """This judge's verdict on each of these texts, one row a hash; hashes it has not judged are left out."""
    connection.register("asked", pa.table({"content_hash": pa.array(content_hashes, pa.string())}))
    try:
        return connection.execute(
            f"""
            WITH keys AS (SELECT DISTINCT content_hash, {TEXT_KEY} AS text_key FROM asked)
            SELECT DISTINCT ON (content_hash)
                   content_hash, status, score, p_error, p_report, report, guided, truncated, gated
            FROM lake.verdicts
            WHERE judge_version = ? AND text_key IN (SELECT text_key FROM keys)
              AND content_hash IN (SELECT content_hash FROM keys)
            ORDER BY content_hash, judged_at
            """,
            [judge_version],
        ).to_arrow_table()
    finally:
        connection.unregister("asked")


def pending_pairs(
    connection: duckdb.DuckDBPyConnection, judge_version: str, into: str, rows_per_file: int
) -> list[str]:
    """Export the stored pairs that this judge has not judged as Parquet files, in the order they were logged.

    The files hold the columns of a logged pair and its sampling share, so that a rescore reads the store as it would
    read a folder of logs. Text is joined file by file, so memory stays flat however large the store is.
    """
    connection.execute(
        """
        CREATE OR REPLACE TEMP TABLE backlog AS
        SELECT row_number() OVER (ORDER BY logged_at, pair_id) AS n, pair_key, text_key, pair_id, content_hash
        FROM lake.pairs ANTI JOIN (SELECT pair_id FROM lake.verdicts WHERE judge_version = ?) USING (pair_id)
        """,
        [judge_version],
    )
    try:
        row = connection.execute("SELECT count(*) FROM temp.backlog").fetchone()
        assert row is not None
        if "://" not in into:
            Path(into).mkdir(parents=True, exist_ok=True)
        return [
            _export(connection, first, first + rows_per_file, f"{into.rstrip('/')}/pairs-{index:06d}.parquet")
            for index, first in enumerate(range(1, row[0] + 1, rows_per_file))
        ]
    finally:
        connection.execute("DROP TABLE IF EXISTS temp.backlog")


def _export(connection: duckdb.DuckDBPyConnection, first: int, end: int, file: str) -> str:
    connection.execute(
        f"""
        COPY (
            WITH slice AS (SELECT * FROM temp.backlog WHERE n >= {first} AND n < {end})
            SELECT slice.pair_id, texts.instruction, texts.output, pairs.logged_at, pairs.country, pairs.language,
                   pairs.app, pairs.model, pairs.metadata, pairs.sample_share
            FROM slice
            JOIN lake.pairs AS pairs ON pairs.pair_key = slice.pair_key AND pairs.pair_id = slice.pair_id
            JOIN lake.texts AS texts ON texts.text_key = slice.text_key AND texts.content_hash = slice.content_hash
            ORDER BY slice.n
        ) TO {quote(file)} (FORMAT parquet)
        """
    )
    return file
