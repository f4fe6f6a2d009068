"""Looking for words in every byte of a store: files as they are, Parquet cells unpacked, and a server's tables."""

from __future__ import annotations

from pathlib import Path

import duckdb
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
    """Tables of the server's catalogue with a row that holds the word, and files of its database that still do."""
    return store.query(_search_server, word)


def _search_server(connection: duckdb.DuckDBPyConnection, word: str) -> set[str]:
    def ask(query: str) -> list[tuple[str, ...]]:
        doubled = query.replace("'", "''")
        rows: list[tuple[str, ...]] = connection.execute(
            f"SELECT * FROM postgres_query('__ducklake_metadata_lake', '{doubled}')"
        ).fetchall()
        return rows

    tables = [name for (name,) in ask("SELECT tablename::text FROM pg_tables WHERE tablename LIKE 'ducklake%'")]
    holds = f"WHERE strpos(t::text, '{word}') > 0"
    found = {name for name in [*tables, "pg_stats"] if ask(f"SELECT 1 FROM {name} AS t {holds} LIMIT 1")}
    connection.execute("CALL postgres_execute('__ducklake_metadata_lake', 'CHECKPOINT', use_transaction => false)")
    folder = "SELECT current_setting('data_directory') || '/base/' || oid FROM pg_database"
    ((place,),) = ask(f"{folder} WHERE datname = current_database()")
    return found | words_in([Path(place)], word)
