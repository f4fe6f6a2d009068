"""Columns of a log mean what the mapping says; those of ExCAM itself are believed in its own files alone."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from excam.mapping import RecordMapping
from excam.outcome import outcome_table
from excam.pair import sample_position
from pipelines.log_file import LogFile, inspect
from pipelines.read import read_units
from pipelines.replayed import JUDGE_STAGE, replay_table
from pipelines.screen import Row
from pipelines.screen_unit import screen_unit
from pipelines.units import Sampling, sections_of
from tests.conftest import LogWriter, pair_record

PAIRS = 50
NONE = RecordMapping()


def screened(path: Path, share: float = 1.0, *, own: bool = False, mapping: RecordMapping = NONE) -> list[Row]:
    """The rows that a run would commit."""
    file = inspect(str(path))
    assert isinstance(file, LogFile)
    (section,) = sections_of(file, "f", 2 * PAIRS, set(), Sampling(share))
    (unit,) = read_units(section)
    rows, _ = screen_unit(unit, replace(section, own=own), mapping, gate=False)
    stored: list[Row] = outcome_table(rows).to_pylist()
    return stored


def letter(record: str, source: str, stage: str) -> pa.Table:
    kept = {"dead_id": "d", "record": record, "source": source, "part": 3, "row": 7, "stage": stage}
    return replay_table(pa.Table.from_pylist([kept]))


def replayed(path: Path, stage: str, record: dict[str, Any], mapping: RecordMapping = NONE) -> list[Row]:
    pq.write_table(letter(json.dumps(record, default=str), "log", stage), path)
    return screened(path, own=True, mapping=mapping)


@pytest.mark.parametrize("value", [0.0, 0.5, 10, "10%", True])
def test_a_column_named_like_the_share_of_the_sample_is_any_other_column(write_log: LogWriter, value: object) -> None:
    log = write_log("log.parquet", [pair_record(number, sample_share=value) for number in range(PAIRS)])
    rows = screened(log, share=0.2)
    sample = [f"pair-{number}" for number in range(PAIRS) if sample_position(f"pair-{number}") < 0.2]
    assert [row["pair_id"] for row in rows] == sample
    assert {row["sample_share"] for row in rows} == {0.2}


def test_pairs_of_the_store_keep_the_share_under_which_they_came_in(write_log: LogWriter) -> None:
    log = write_log("pairs.parquet", [pair_record(number, sample_share=0.05) for number in range(PAIRS)])
    assert [row["sample_share"] for row in screened(log, own=True)] == [0.05] * PAIRS


def test_a_dead_letter_of_the_judge_keeps_its_share_and_one_in_the_form_of_the_log_has_none(tmp_path: Path) -> None:
    record = pair_record(1, sample_share=0.05)
    (kept,) = replayed(tmp_path / "letters.parquet", JUDGE_STAGE, record)
    (mapped,) = replayed(tmp_path / "letters.parquet", "map", record | {"sample_share": "10%"})
    assert (kept["sample_share"], mapped["sample_share"]) == (0.05, 1.0)
    assert {(row["source"], row["part"], row["row"]) for row in (kept, mapped)} == {("log", 3, 7)}


@pytest.mark.parametrize("stage", [JUDGE_STAGE, "commit"])
def test_a_dead_letter_that_keeps_a_pair_is_not_read_by_the_mapping_of_its_log(tmp_path: Path, stage: str) -> None:
    mapping = RecordMapping(fields={"instruction": "user_text", "pair_id": "conversation"})
    (row,) = replayed(tmp_path / "letters.parquet", stage, pair_record(1, sample_share=0.05), mapping)
    assert (row["kind"], row["pair_id"], row["sample_share"]) == ("pending", "pair-1", 0.05)


def test_a_log_with_the_columns_of_a_replay_is_not_one(tmp_path: Path) -> None:
    pq.write_table(letter("no JSON", "another", JUDGE_STAGE), tmp_path / "log.parquet")
    (row,) = screened(tmp_path / "log.parquet")
    assert (row["reason"], row["source"]) == ("bad_field", str(tmp_path / "log.parquet"))
