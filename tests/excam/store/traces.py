"""Looking for words in every byte of a store: files as they are, Parquet cells unpacked, and a server's tables."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from excam.store import Store


def traces(store: Store, word: str) -> set[str]:
    """Where the word is found: names of files below the store's folders, and tables of a PostgreSQL catalogue."""
    folders = [Path(store.data_path)] + ([store.url.path.parent] if store.url.path else [])
    return words_in(folders, word) | (_tables(store, word) if store.url.path is None else set())


def words_in(folders: list[Path], word: str) -> set[str]:
    """The files below these folders that hold the word, packed or unpacked."""
    files = {file for folder in folders for file in folder.rglob("*") if file.is_file()}
    return {str(file) for file in files if word.encode() in file.read_bytes() or word in _cells(file)}


def _cells(file: Path) -> str:
    return str(pq.read_table(file, partitioning=None).to_pylist()) if file.suffix == ".parquet" else ""


def _tables(store: Store, word: str) -> set[str]:
    """Tables of the server's catalogue, its planner's statistics among them, one row of which holds the word."""

    def ask(connection: object) -> set[str]:
        names = (
            "SELECT table_name FROM duckdb_tables() WHERE database_name = '__ducklake_metadata_lake' "
            "AND table_name LIKE 'ducklake%'"
        )
        tables = [name for (name,) in connection.execute(names).fetchall()]  # type: ignore[attr-defined]
        found = set()
        for name in [*tables, "pg_stats"]:
            query = f"SELECT count(*) FROM {name} AS t WHERE strpos(t::text, '{word}') > 0".replace("'", "''")
            rows = connection.execute(  # type: ignore[attr-defined]
                f"SELECT * FROM postgres_query('__ducklake_metadata_lake', '{query}')"
            ).fetchall()
            if rows[0][0]:
                found.add(name)
        return found

    return store.query(ask)
