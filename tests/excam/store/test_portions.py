"""Rows come out of a store in portions that fit in memory."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from excam.store import Store
from excam.store import portions as module
from excam.store.portions import portions
from tests.excam.store.outcomes import TUNED, put, verdict


@given(
    batches=st.lists(st.lists(st.integers(0, 40), max_size=9), max_size=9),
    rows=st.integers(1, 12),
)
def test_every_row_comes_once_and_in_order_in_portions_of_the_size_asked(batches: list[list[int]], rows: int) -> None:
    schema = pa.schema([("number", pa.int64()), ("text", pa.string())])
    numbers = iter(range(1000))
    made = [
        pa.record_batch({"number": [next(numbers) for _ in sizes], "text": ["x" * size for size in sizes]}, schema)
        for sizes in batches
    ]
    found = list(portions(pa.RecordBatchReader.from_batches(schema, made), rows))
    assert pa.concat_tables([schema.empty_table(), *found]) == pa.Table.from_batches(made, schema)
    assert all(0 < table.num_rows <= rows for table in found)


def test_long_texts_make_smaller_portions(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PORTION_BYTES", 1000)
    batch = pa.record_batch({"text": ["x" * 300]})
    found = list(portions(pa.RecordBatchReader.from_batches(batch.schema, [batch] * 10), 100))
    assert [table.num_rows for table in found] == [3, 3, 3, 1]


def test_a_text_larger_than_a_portion_is_one_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "PORTION_BYTES", 10)
    batch = pa.record_batch({"text": ["x" * 300]})
    found = list(portions(pa.RecordBatchReader.from_batches(batch.schema, [batch] * 3), 100))
    assert [table.num_rows for table in found] == [1, 1, 1]


def test_neither_a_backup_nor_a_backlog_holds_all_long_texts_at_once(
    sqlite_store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(sqlite_store, *(verdict(number, output=f"{number} " * 100) for number in range(3 * module.VECTOR)))
    monkeypatch.setattr(module, "PORTION_BYTES", 1)
    folder, manifest = sqlite_store.backup(str(tmp_path))
    assert manifest.rows["texts"] == 3 * module.VECTOR
    assert pq.ParquetFile(f"{folder}/texts.parquet").num_row_groups >= 3
    files = sqlite_store.pending_pairs(TUNED.judge_version, str(tmp_path / "backlog"), rows_per_file=50_000)
    assert len(files) >= 3
    assert sum(pq.read_metadata(file).num_rows for file in files) == 3 * module.VECTOR
