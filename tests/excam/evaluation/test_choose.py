from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from excam.dataset.sample import SCHEMA
from excam.evaluation.choose import choose, read_split
from excam.fault import UserError


@pytest.fixture
def table(make_row: Any) -> pa.Table:
    rows = [
        make_row(number, label, None, source=source)
        for source in ("blend", "epic")
        for number in range(30)
        for label in ("error", "correct")
    ]
    rows += [make_row(number, "not_applicable", None, source="assistant") for number in range(7)]
    return pa.Table.from_pylist([{name: row[name] for name in SCHEMA.names} for row in rows], schema=SCHEMA)


def test_a_limit_holds_for_each_source_and_never_parts_twins(table: pa.Table) -> None:
    chosen = choose(table, limit=11)
    assert Counter(chosen["source"].to_pylist()) == {"blend": 10, "epic": 10, "assistant": 7}
    twins = Counter(name for name in chosen["twin_id"].to_pylist() if name)
    assert set(twins.values()) == {2}
    assert choose(table, limit=11).equals(chosen), "the same samples every time"


def test_a_larger_limit_keeps_what_a_smaller_one_took(table: pa.Table) -> None:
    small, large = (set(choose(table, limit)["sample_id"].to_pylist()) for limit in (10, 30))
    assert small < large


def test_one_source_alone_and_everything(table: pa.Table) -> None:
    assert set(choose(table, source="epic")["source"].to_pylist()) == {"epic"}
    assert choose(table).equals(table)
    with pytest.raises(UserError, match="no sample of the source 'mango'"):
        choose(table, source="mango")


def test_a_split_without_a_sample_or_a_limit_below_all_twins_leaves_nothing_to_judge(table: pa.Table) -> None:
    for nothing, limit in ((table.slice(0, 0), None), (table.slice(0, 2), 1)):
        with pytest.raises(UserError, match="no sample to judge"):
            choose(nothing, limit)


def test_a_folder_without_the_split_or_with_another_file_is_named(tmp_path: Path, table: pa.Table) -> None:
    with pytest.raises(UserError, match="there is no"):
        read_split(tmp_path, "test")
    pq.write_table(table.drop(["label"]), tmp_path / "test.parquet")
    with pytest.raises(UserError, match="no split of ExCAM40k"):
        read_split(tmp_path, "test")
    pq.write_table(table, tmp_path / "dev.parquet")
    assert read_split(tmp_path, "dev").num_rows == table.num_rows
