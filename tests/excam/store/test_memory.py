"""A writer's memory does not grow with what it has written."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq

from excam.outcome import outcome_table
from excam.store import Store
from tests.excam.store.outcomes import CARD, unit, verdict


def test_staged_files_are_not_kept_in_memory_once_they_are_committed(sqlite_store: Store, tmp_path: Path) -> None:
    version = sqlite_store.register_judge(CARD)
    with sqlite_store.lease("test") as lease:
        run_id = sqlite_store.start_run(lease, "score", version, {})
        for part in range(3):
            file = tmp_path / f"{part}.parquet"
            rows = [verdict(100 * part + number, output="answer " * 200) for number in range(100)]
            pq.write_table(outcome_table(rows), file)
            sqlite_store.commit(lease, run_id, version, [str(file)], [unit(part)])
        held = sqlite_store._connection.execute(
            "SELECT sum(memory_usage_bytes) FROM duckdb_memory() WHERE tag = 'EXTERNAL_FILE_CACHE'"
        ).fetchone()
    assert held == (0,)
