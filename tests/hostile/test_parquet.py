"""Parquet files that lie, are damaged, or unfold to gigabytes: every row comes out or is named, and memory holds."""

from __future__ import annotations

import datetime
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.mapping import BadField, RecordMapping
from excam.pair import LoggedPair
from pipelines.log_file import BrokenFile, LogFile, inspect
from pipelines.read import MOST_BYTES, Unit, read_units
from pipelines.units import Sampling, sections_of, unit_rows_of
from tests.conftest import pair_record


def units_of(path: Path) -> list[Unit] | BrokenFile:
    file = inspect(str(path))
    if isinstance(file, BrokenFile):
        return file
    sections = sections_of(file, "f", unit_rows_of(file, 1.0), set(), Sampling())
    return [unit for section in sections for unit in read_units(section)]


def read(path: Path) -> list[Unit]:
    units = units_of(path)
    assert isinstance(units, list)
    return units


def test_a_text_named_a_thousand_times_is_not_unfolded(tmp_path: Path) -> None:
    long = pa.array(["a" * 20_000_000])
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(260, np.int32)), long)
    path = tmp_path / "bomb.parquet"
    pq.write_table(pa.table({"prompt": column}), path, compression="zstd", dictionary_pagesize_limit=1 << 30)
    assert path.stat().st_size < 10_000
    usual = pa.default_memory_pool()
    counted = pa.proxy_memory_pool(usual)
    pa.set_memory_pool(counted)
    try:
        units = read(path)
    finally:
        pa.set_memory_pool(usual)
    assert counted.max_memory() < 300_000_000  # without care a unit takes 2,560,000,000
    assert sum(unit.rows for unit in units) == 260
    assert [bool(unit.broken) for unit in units] == [True, True, False]  # the last holds four rows of 20 MB
    assert "unfold to 2,560,000," in str(units[0].broken)


def test_the_same_inside_a_conversation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipelines.read.MOST_BYTES", 1_000_000)
    turns = [[{"role": "user", "content": "b" * 200_000}] * 10]
    pq.write_table(pa.table({"messages": turns}), tmp_path / "log.parquet")
    (unit,) = read(tmp_path / "log.parquet")
    assert "unfold to 2,000,0" in str(unit.broken)


def test_one_text_larger_than_anything_is_refused_by_what_the_file_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert MOST_BYTES == 512 * 2**20
    monkeypatch.setattr("pipelines.read.MOST_BYTES", 1_000_000)
    pq.write_table(pa.table({"prompt": ["a" * 3_000_000]}), tmp_path / "log.parquet", compression="zstd")
    (unit,) = read(tmp_path / "log.parquet")
    assert "a row holds 3,000,0" in str(unit.broken)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    path = tmp_path_factory.mktemp("sound") / "log.parquet"
    rows = [pair_record(n) | {"messages": [{"role": "user", "content": f"x{n}"}]} for n in range(60)]
    pq.write_table(pa.Table.from_pylist(rows), path, row_group_size=20)
    return path.read_bytes()


@settings(deadline=None, max_examples=250)
@given(seed=st.integers(0, 2**32))
def test_a_damaged_file_is_read_or_named_as_broken_and_no_row_is_lost_in_silence(
    sound: bytes, tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    chance = random.Random(seed)
    content = bytearray(sound)
    footer = int.from_bytes(sound[-8:-4], "little") + 8
    for _ in range(chance.randint(1, 6)):
        place = chance.randrange(len(content) - footer if chance.random() < 0.6 else 0, len(content) - 8)
        content[place] = chance.choice([0, 127, 128, 255, content[place] ^ 1 << chance.randrange(8)])
    path = tmp_path_factory.getbasetemp() / "damaged.parquet"
    path.write_bytes(content)
    file = inspect(str(path))
    if isinstance(file, LogFile):
        assert sum(unit.rows for unit in read(path)) == sum(file.rows)


def test_a_file_that_says_it_has_more_rows_than_there_are_numbers_is_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipelines.log_file.MOST_ROWS", 9)
    pq.write_table(pa.table({"n": range(10)}), tmp_path / "log.parquet")
    file = inspect(str(tmp_path / "log.parquet"))
    assert isinstance(file, BrokenFile)
    assert "10 rows" in file.reason


def test_columns_nested_beyond_use_are_named(tmp_path: Path) -> None:
    value: Any = "deep"
    for _ in range(120):
        value = {"a": value}
    pq.write_table(pa.table({"prompt": [value]}), tmp_path / "log.parquet")
    file = inspect(str(tmp_path / "log.parquet"))
    assert isinstance(file, BrokenFile)
    assert "too deeply nested" in file.reason


def test_every_kind_of_column_comes_out_as_it_went_in(tmp_path: Path) -> None:
    texts, none = ["x", None, "y"], pa.nulls(3)
    table = pa.table(
        {
            "map": pa.array([[("a", "x"), ("b", None)], None, []], pa.map_(pa.string(), pa.string())),
            "decimal": pa.array([1, None, 2]).cast(pa.decimal128(25, 3)),
            "bytes": [b"\xff", None, b"\xfe"],
            "list": [["a", None], None, []],
            "struct": [{"x": ["a"]}, None, {"x": None}],
            "fixed": pa.array([["a", "b"], None, ["c", "d"]], pa.list_(pa.string(), 2)),
            "dictionary": pa.array(texts).dictionary_encode(),
            "numbers": pa.array([1, None, 2]).dictionary_encode(),
            "large": pa.array(texts, pa.large_string()),
            "view": pa.array(texts, pa.string_view()),
            "large list": pa.array([["a"], None, []], pa.large_list(pa.string())),
            "'; DROP TABLE x; --": texts,
            "none": none,
        }
    )
    pq.write_table(table, tmp_path / "log.parquet")
    (unit,) = read(tmp_path / "log.parquet")
    assert unit.records == pq.read_table(tmp_path / "log.parquet").to_pylist(maps_as_pydicts="strict")


def test_text_that_is_no_utf8_stays_bytes_however_deep_and_times_beyond_clocks_are_bad_fields(tmp_path: Path) -> None:
    broken = pa.array([b"\xff\xfe", b"fine"]).cast(pa.string(), safe=False)
    column = pa.StructArray.from_arrays([broken], ["content"])
    beyond = pa.array([2**62, 1_700_000_000_000_000], pa.int64()).cast(pa.timestamp("us"))
    pq.write_table(pa.table({"prompt": column, "ts": beyond, "answer": ["a", "b"]}), tmp_path / "log.parquet")
    (unit,) = read(tmp_path / "log.parquet")
    assert [record["prompt"]["content"] for record in unit.records] == [b"\xff\xfe", "fine"]
    assert unit.records[1]["ts"] == datetime.datetime(2023, 11, 14, 22, 13, 20)
    mapping = RecordMapping(fields={"instruction": "answer", "output": "answer"})
    bad, pair = (mapping.read(record) for record in unit.records)
    assert isinstance(bad, BadField)
    assert bad.field == "logged_at"
    assert isinstance(pair, LoggedPair)


def test_years_1_and_9999_are_bad_fields_and_nothing_else(tmp_path: Path) -> None:
    times = [datetime.datetime.min, datetime.datetime.max, datetime.datetime(2026, 1, 1)]
    rows = [{"prompt": "a", "answer": "b", "ts": time} for time in times]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "log.parquet")
    (unit,) = read(tmp_path / "log.parquet")
    kinds = [type(RecordMapping().read(record)) for record in unit.records]
    assert kinds == [BadField, BadField, LoggedPair]
