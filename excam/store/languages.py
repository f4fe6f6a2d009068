"""Rows from before languages were kept by their codes: ``en-US`` stood beside ``en``, and a trend showed both."""

from __future__ import annotations

import duckdb
import pyarrow as pa

from excam.language import language_code


def name_languages_by_code(connection: duckdb.DuckDBPyConnection) -> None:
    """Give every stored language its code, where it has one, inside the caller's transaction."""
    for table in ("pairs", "verdicts", "errors"):
        names = connection.execute(f"SELECT DISTINCT language FROM lake.{table} WHERE language IS NOT NULL").fetchall()
        codes = [(name, code) for (name,) in names if (code := language_code(name)) and code != name]
        if codes:
            named = pa.table({"name": [name for name, _ in codes], "code": [code for _, code in codes]})
            connection.register("spelled", named)
            connection.execute(
                f"""UPDATE lake.{table} AS stored SET language = spelled.code FROM spelled
                    WHERE stored.language || '' = spelled.name"""
            )
            connection.unregister("spelled")
