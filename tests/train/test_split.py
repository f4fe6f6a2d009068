"""A split that cannot be trained on is told by file, sample and field, before anything starts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from excam.fault import UserError
from train.split import TEXTS, read_rows

ROW: dict[str, Any] = dict.fromkeys(TEXTS, "some text") | {"label": "correct", "weight": 1.0, "twin_id": None}


def split(folder: Path, *rows: dict[str, Any]) -> Path:
    schema = pa.schema([*((name, pa.string()) for name in TEXTS), ("label", pa.string()), ("weight", pa.float64())])
    pq.write_table(pa.Table.from_pylist(list(rows), schema.append(pa.field("twin_id", pa.string()))), folder / "x")
    return folder / "x"


def test_rows_come_as_they_were_written(tmp_path: Path) -> None:
    assert read_rows(split(tmp_path, ROW, ROW | {"twin_id": "t"})) == [ROW, ROW | {"twin_id": "t"}]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"output": None}, "output is None"),
        ({"label": "odd"}, "label 'odd'"),
        ({"weight": None}, "weight None"),
        ({"weight": float("nan")}, "weight nan"),
        ({"weight": -1.0}, "weight -1"),
    ],
)
def test_a_row_that_is_no_sample_is_named(tmp_path: Path, change: dict[str, Any], named: str) -> None:
    with pytest.raises(UserError, match=rf"x, row 1 \(sample here\): {named}"):
        read_rows(split(tmp_path, ROW, ROW | {"sample_id": "here"} | change))


def test_a_split_without_samples_without_a_column_or_without_parquet_is_none(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="holds no sample"):
        read_rows(split(tmp_path))
    pq.write_table(pq.read_table(split(tmp_path, ROW)).drop_columns(["weight"]), tmp_path / "x")
    with pytest.raises(UserError, match=r"x: the columns weight are missing"):
        read_rows(tmp_path / "x")
    (tmp_path / "x").write_text("text")
    with pytest.raises(UserError, match="x cannot be read"):
        read_rows(tmp_path / "x")
    with pytest.raises(UserError, match="there is no"):
        read_rows(tmp_path / "nowhere")
