"""Whoever commits or looks for days: memory stays as it is, and so does what is stored and seen."""

from __future__ import annotations

import re

import duckdb
import pytest

from excam.fault import UserError
from excam.outcome import outcome_table
from excam.store import OffsetRange, Store
from tests.excam.store.outcomes import CARD, JUDGE, count, put, unit, verdict


def test_what_a_writer_keeps_in_memory_does_not_grow_with_its_commits(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("excam.store.database.RENEW_COMMITS", 2)
    held = []
    with store.lease() as lease:
        run_id = store.start_run(lease, "stream", store.register_judge(CARD), {})
        for number in range(8):
            store.commit(lease, run_id, JUDGE, [outcome_table([verdict(number)])], [unit(number)])
            with store._database._current.cursor() as connection:
                found = connection.execute("SELECT sum(memory_usage_bytes) FROM duckdb_memory()").fetchone()
            held.append(int(found[0]) if found else 0)
    assert held[3] > held[2], "it would grow"
    assert max(held[2:4]) >= max(held[6:8]), "and is let go"
    assert count(store, "verdicts") == 8
    assert store.done_parts("file:///logs/a.parquet", "v1", JUDGE) == set(range(8))


def test_a_writer_that_cannot_be_renewed_goes_on_and_tries_again(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    def out_of_reach(*_: object, **__: object) -> None:
        raise UserError("the catalogue is out of reach")

    monkeypatch.setattr("excam.store.database.RENEW_COMMITS", 1)
    with monkeypatch.context() as broken:
        broken.setattr("excam.store.database.connect", out_of_reach)
        for number in range(2):
            put(sqlite_store, verdict(number))
        assert sqlite_store._database._current is sqlite_store._connection
    put(sqlite_store, verdict(2))
    assert sqlite_store._database._current is not sqlite_store._connection
    assert count(sqlite_store, "verdicts") == 3


def test_a_reader_looks_through_a_new_database_after_a_while_and_sees_what_was_committed(
    sqlite_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(sqlite_store, verdict(0))
    with Store.open(str(sqlite_store.url), read_only=True) as reader:
        assert count(reader, "verdicts") == 1
        first = reader._database._current
        monkeypatch.setattr("excam.store.database.RENEW_SECONDS", 0.0)
        put(sqlite_store, verdict(1))
        assert count(reader, "verdicts") == 2
        assert reader._database._current is not first
        with pytest.raises(duckdb.InvalidInputException, match="read-only"):
            reader.query(lambda asked: asked.execute("DELETE FROM lake.verdicts"))


def test_a_commit_of_new_pairs_reads_the_statistics_of_no_file(sqlite_store: Store) -> None:
    """DuckLake reads those of all files of all tables at once: every commit would make the next ones dearer."""
    with sqlite_store.lease() as lease:
        run_id = sqlite_store.start_run(lease, "stream", sqlite_store.register_judge(CARD), {})
        for number in range(2):
            rows = [outcome_table([verdict(number)])]
            ranges = [OffsetRange("kafka:logs#1", 0, 0, 0, kind="start"), OffsetRange("kafka:logs#1", 0, 0, 5)]
            sqlite_store.commit(lease, run_id, JUDGE, rows, [unit(number)], ranges)
            with sqlite_store._database._current.cursor() as connection:
                connection.execute("CALL enable_logging('QueryLog')")
        with sqlite_store._database._current.cursor() as connection:
            asked = [str(query) for (query,) in connection.execute("SELECT message FROM duckdb_logs").fetchall()]
    assert any(re.search(r"FROM \S+ducklake_data_file\b", query) for query in asked), "what DuckLake asks is seen"
    assert not [query for query in asked if re.search(r"FROM \S+ducklake_file_column_stats\b", query)]
