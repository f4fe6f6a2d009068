"""Units: the same rows in the same units every time, and nothing lost where a file is broken."""

from __future__ import annotations

import json
import tempfile
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.mapping import BadField, RecordMapping
from excam.pair import LoggedPair
from pipelines.log_file import LogFile, inspect
from pipelines.read import Unit, read_units, record_json
from pipelines.units import Sampling, Section, pending_rows, sections_of, unit_fingerprint, unit_rows_of
from tests.conftest import LogWriter, pair_record


def log_file(path: Path) -> LogFile:
    file = inspect(str(path))
    assert isinstance(file, LogFile)
    return file


def units_of(file: LogFile, unit_rows: int, done: set[int] | None = None) -> list[Unit]:
    sections = sections_of(file, "f", unit_rows, done or set(), Sampling())
    return [unit for section in sections for unit in read_units(section)]


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 300), st.integers(1, 120), st.integers(1, 64), st.data())
def test_every_row_is_in_exactly_one_unit_and_done_units_are_left_out(
    rows: int, group: int, unit_rows: int, data: st.DataObject
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "log.parquet"
        pq.write_table(pa.table({"n": list(range(rows))}), path, row_group_size=group)
        file = log_file(path)
        every = units_of(file, unit_rows)
        assert [record["n"] for unit in every for record in unit.records] == list(range(rows))
        assert [unit.first_row for unit in every] == [unit.records[0]["n"] for unit in every]
        assert len({unit.part for unit in every}) == len(every)
        done = data.draw(st.sets(st.sampled_from([unit.part for unit in every])))
        left = units_of(file, unit_rows, done)
        assert left == [unit for unit in every if unit.part not in done]
        sections = list(sections_of(file, "f", unit_rows, done, Sampling()))
        assert pending_rows(sections) == sum(unit.rows for unit in left)


def test_a_broken_page_gives_broken_units_for_its_rows_and_leaves_the_others(write_log: LogWriter) -> None:
    path = write_log("log.parquet", [pair_record(number) for number in range(30)], row_group_size=10)
    content = bytearray(path.read_bytes())
    metadata = pq.ParquetFile(path).metadata
    column = metadata.row_group(1).column(1)
    start = column.dictionary_page_offset or column.data_page_offset
    content[start : start + column.total_compressed_size] = b"\xff" * column.total_compressed_size
    file = log_file(path)
    path.write_bytes(content)
    units = units_of(file, 4)
    broken = [unit for unit in units if unit.broken]
    assert sorted(record["pair_id"] for unit in units for record in unit.records) == sorted(
        f"pair-{number}" for number in (*range(10), *range(20, 30))
    )
    assert sum(unit.rows for unit in broken) == 10


def test_a_file_that_changed_after_planning_is_not_read_as_if_it_had_not(write_log: LogWriter) -> None:
    file = log_file(write_log("log.parquet", [pair_record(number) for number in range(8)]))
    write_log("log.parquet", [pair_record(number) for number in range(5)])
    assert all("changed" in (unit.broken or "") for unit in units_of(file, 4))


def test_text_that_is_no_utf8_is_one_bad_field_and_the_other_rows_are_read(tmp_path: Path) -> None:
    raw = pa.array([b"fine", b"\xff\xfe", b"too"], pa.binary()).cast(pa.binary())
    text = pa.Array.from_buffers(pa.string(), 3, raw.buffers())
    times = pa.array(["2026-01-01"] * 3)
    path = tmp_path / "log.parquet"
    pq.write_table(pa.table({"instruction": text, "output": ["a", "b", "c"], "ts": times}), path)
    (unit,) = units_of(log_file(path), 10)
    read = [RecordMapping().read(record) for record in unit.records]
    assert [isinstance(each, BadField) for each in read] == [False, True, False]
    assert str(read[1]) == "instruction: expected text, found bytes"
    assert json.loads(record_json(unit.records[1]))["instruction"] == r"\xff\xfe"


def test_texts_that_are_marked_as_mere_bytes_are_texts(tmp_path: Path) -> None:
    record = {"id": b"a-1", "country": "Côte d’Ivoire".encode(), "app": b"\xff", "turns": [{"text": b"Hi"}]}
    pq.write_table(pa.Table.from_pylist([record]), tmp_path / "log.parquet")
    (unit,) = units_of(log_file(tmp_path / "log.parquet"), 10)
    assert unit.records == [{"id": "a-1", "country": "Côte d’Ivoire", "app": b"\xff", "turns": [{"text": "Hi"}]}]


def test_a_moment_in_a_zone_that_nobody_here_knows_is_read_in_utc(tmp_path: Path) -> None:
    moments = [datetime(2026, 1, 1, 12, tzinfo=UTC), None]
    times = pa.array(moments, pa.timestamp("ms", "Z"))
    pq.write_table(pa.table({"ts": times, "far": pa.array([2**60, None], times.type)}), tmp_path / "log.parquet")
    (unit,) = units_of(log_file(tmp_path / "log.parquet"), 10)
    assert [record["ts"] for record in unit.records] == moments
    assert unit.records[0]["far"] == f"timestamp[ms, tz=Z] {2**60}"


def test_the_entries_of_a_map_are_found_by_their_names_and_so_is_a_person_among_them(tmp_path: Path) -> None:
    by_name = pa.map_(pa.string(), pa.string())
    columns: dict[str, Any] = {
        "prompt": ["Why?", "How?"],
        "reply": ["So.", "Thus."],
        "ts": ["2026-01-01"] * 2,
        "metadata": pa.array([[("user", "Ana")], None], by_name),
        "labels": pa.array([{"own": [("app", "travel")]}, None], pa.struct([("own", by_name)])),
        "by_day": pa.array([[(date(2026, 1, 1), "Thursday")], None], pa.map_(pa.date32(), pa.string())),
    }
    mapping = RecordMapping(fields={"app": "labels.own.app"}, metadata=("by_day",))
    for texts in (["Why?", "How?"], ["Why?", "\udcff"]):
        prompts = pa.array([text.encode("utf-8", "surrogateescape") for text in texts])
        columns["prompt"] = pa.Array.from_buffers(pa.string(), 2, prompts.buffers())
        pq.write_table(pa.table(columns), tmp_path / "log.parquet")
        (unit,) = units_of(log_file(tmp_path / "log.parquet"), 10)
        pair = mapping.read(unit.records[0])
        assert isinstance(pair, LoggedPair)
        assert (pair.app, pair.metadata["user"]) == ("travel", "Ana")
        assert json.loads(pair.metadata_json or "")["by_day"] == [["2026-01-01", "Thursday"]], "a day is no name"
        assert unit.records[1]["metadata"] is None


def test_units_shrink_for_huge_rows_and_grow_for_small_samples() -> None:
    def unit_rows(bytes_per_row: float, share: float) -> int:
        return unit_rows_of(LogFile("u", "f", (1,), bytes_per_row), share)

    assert unit_rows(1_000, 1.0) == 128
    assert unit_rows(4 * 2**20, 1.0) == 4
    assert unit_rows(100 * 2**20, 1.0) == 1
    assert unit_rows(100, 0.05) == 2560


def test_another_share_is_other_work() -> None:
    file = LogFile("u", "f", (1,), 1.0)
    keys: set[str] = {unit_fingerprint(file, 128, Sampling(share)) for share in (0.1, 0.2, 1.0)}
    capped = Sampling(1.0, (("ID", 0.5),))
    assert len(keys | {unit_fingerprint(file, 128, capped)}) == 4


def test_a_section_travels_between_processes_unchanged() -> None:
    import pickle

    section: Any = Section("u", "f", 1, 10, 20, 5, (3,), Sampling(0.5, (("ID", 0.1),)))
    assert pickle.loads(pickle.dumps(section)) == section
