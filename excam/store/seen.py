"""What a judge has judged already, for the two that need to know: reuse of a verdict, and a new judge's backlog."""

from __future__ import annotations

from typing import Any

import duckdb
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from excam.place import open_place
from excam.store.keys import TEXT_CHECK, TEXT_KEY
from excam.store.portions import VECTOR, portions


def known_hashes(connection: duckdb.DuckDBPyConnection, judge_version: str) -> npt.NDArray[np.uint64]:
    """The first 64 bits of every content hash this judge has judged, sorted: a cheap "seen before?" filter.

    Verdicts of the relevance gate count too, since the gate belongs to the judge's identity. A hit must be confirmed
    with :func:`verdicts_of`, which compares whole hashes.
    """
    columns: dict[str, Any] = connection.execute(
        "SELECT text_key FROM lake.verdicts WHERE judge_version = ?", [judge_version]
    ).fetchnumpy()
    keys = np.sort(np.asarray(columns["text_key"], dtype=np.uint64))
    return keys[np.append(True, keys[1:] != keys[:-1])] if keys.size else keys


def verdicts_of(connection: duckdb.DuckDBPyConnection, judge_version: str, content_hashes: list[str]) -> pa.Table:
    """This judge's verdict on each of these texts, one row a hash; hashes it has not judged are left out."""
    connection.register("asked", pa.table({"content_hash": pa.array(sorted(set(content_hashes)), pa.string())}))
    try:
        return connection.execute(
            f"""
            WITH keys AS (SELECT content_hash, {TEXT_KEY} AS text_key, {TEXT_CHECK} AS text_check FROM asked)
            SELECT content_hash, status, score, p_error, p_report, report, guided, truncated, gated
            FROM keys JOIN (
                SELECT DISTINCT ON (text_key, text_check) text_key, text_check, status, score, p_error, p_report,
                       report, guided, truncated, gated
                FROM lake.verdicts WHERE judge_version = ? AND text_key IN (SELECT text_key FROM keys)
            ) USING (text_key, text_check)
            """,
            [judge_version],
        ).to_arrow_table()
    finally:
        connection.unregister("asked")


def pending_pairs(
    connection: duckdb.DuckDBPyConnection, judge_version: str, into: str, rows_per_file: int
) -> list[str]:
    """Export the stored pairs that this judge has not judged as Parquet files of ``rows_per_file`` rows at most.

    The files hold the columns of a logged pair and its sampling share, so that a rescore reads the store as it would
    read a folder of logs. Long texts make files of fewer rows, so that none takes much memory.
    """
    reader = connection.execute(
        """
        SELECT pairs.pair_id, texts.instruction, texts.output, pairs.logged_at, pairs.country, pairs.language,
               pairs.app, pairs.model, pairs.metadata, pairs.sample_share
        FROM lake.pairs AS pairs
        ANTI JOIN (SELECT pair_key, text_key FROM lake.verdicts WHERE judge_version = ?) AS judged
        ON judged.pair_key = pairs.pair_key AND judged.text_key = pairs.text_key
        JOIN lake.texts AS texts ON texts.text_key = pairs.text_key AND texts.text_check = pairs.text_check
        """,
        [judge_version],
    ).to_arrow_reader(VECTOR)
    filesystem, folder = open_place(into)
    filesystem.create_dir(folder, recursive=True)
    files = []
    for index, rows in enumerate(portions(reader, rows_per_file)):
        name = f"pairs-{index:06d}.parquet"
        pq.write_table(rows, f"{folder}/{name}", filesystem=filesystem)
        files.append(f"{into.rstrip('/')}/{name}")
    return files
