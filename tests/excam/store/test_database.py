"""A writer that commits for days: its memory stays as it is, and so does what it stores."""

from __future__ import annotations

import pytest

from excam.fault import UserError
from excam.outcome import outcome_table
from excam.store import Store
from tests.excam.store.outcomes import CARD, JUDGE, count, put, unit, verdict


def test_what_a_writer_keeps_in_memory_does_not_grow_with_its_commits(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("excam.store.writer.RENEW_COMMITS", 2)
    held = []
    with store.lease() as lease:
        run_id = store.start_run(lease, "stream", store.register_judge(CARD), {})
        for number in range(8):
            store.commit(lease, run_id, JUDGE, [outcome_table([verdict(number)])], [unit(number)])
            with store._writer._database.cursor() as connection:
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

    monkeypatch.setattr("excam.store.writer.RENEW_COMMITS", 1)
    with monkeypatch.context() as broken:
        broken.setattr("excam.store.writer.connect", out_of_reach)
        for number in range(2):
            put(sqlite_store, verdict(number))
        assert sqlite_store._writer._database is sqlite_store._connection
    put(sqlite_store, verdict(2))
    assert sqlite_store._writer._database is not sqlite_store._connection
    assert count(sqlite_store, "verdicts") == 3
