"""Logs are found wherever they lie, and a file is known by what is in it."""

from __future__ import annotations

import csv
import gzip
import io
import json
import os
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import fsspec
import pyarrow.parquet as pq
import pytest
from fsspec import AbstractFileSystem
from fsspec.implementations.local import LocalFileSystem

from excam.fault import UserError
from excam.mapping import RecordMapping
from excam.pair import LoggedPair
from excam.store.backup import MANIFEST
from pipelines.files import find_logs, outside
from pipelines.log_file import BrokenFile, LogFile, inspect
from tests.conftest import LogWriter, pair_record
from tests.ports import free_port

RECORDS = [pair_record(number) for number in range(10)]


def test_a_file_a_folder_and_a_glob_name_the_same_log(write_log: LogWriter, tmp_path: Path) -> None:
    path = str(write_log("logs/a/day.parquet", RECORDS))
    assert find_logs([path]) == [path]
    assert find_logs([str(tmp_path / "logs")]) == [path]
    assert find_logs([str(tmp_path / "logs" / "*" / "day*.parquet")]) == [path]
    assert find_logs([path, str(tmp_path / "logs")]) == [path]


def test_what_a_store_keeps_among_the_logs_is_no_log(write_log: LogWriter, tmp_path: Path) -> None:
    log = str(write_log("logs/day.parquet", RECORDS))
    store = write_log("logs/store.data/lake/main/texts/ducklake-1.parquet", RECORDS).parents[3]
    beside = str(write_log("logs/store.database/day.parquet", RECORDS))
    (tmp_path / "linked").symlink_to(tmp_path / "logs")
    assert outside(find_logs([str(tmp_path / "logs")]), str(store)) == [log, beside]
    for place in (f"file://{tmp_path}/logs", str(tmp_path / "linked")):
        assert len(outside(find_logs([place]), str(store))) == 2
    assert outside(["s3://bucket/store/a.parquet", "s3://bucket/a.parquet"], "s3://bucket/store/") == [
        "s3://bucket/a.parquet"
    ]


@pytest.mark.parametrize("folder", ["excam-20261115T020000-1a2b", "before the upgrade"])
def test_a_backup_among_the_logs_is_no_log(write_log: LogWriter, tmp_path: Path, folder: str) -> None:
    log = str(write_log("logs/day.parquet", RECORDS))
    beside = str(write_log("logs/excam-2026/texts.parquet", RECORDS))
    for table in ("pairs", "texts", "verdicts"):
        backup = write_log(f"logs/{folder}/{table}.parquet", RECORDS).parent
    (backup / MANIFEST).write_text("{}")
    assert find_logs([str(tmp_path / "logs")]) == find_logs([f"{tmp_path}/logs/**/*.parquet"]) == [log, beside]


@pytest.mark.parametrize("place", ["logs [2026]", "logs [2026]/what?.parquet"])
def test_a_name_that_looks_like_a_pattern_is_itself_where_it_is_there(
    write_log: LogWriter, tmp_path: Path, place: str
) -> None:
    path = str(write_log("logs [2026]/what?.parquet", RECORDS))
    assert find_logs([f"{tmp_path}/{place}"]) == [path]


def test_relative_paths_are_known_by_their_absolute_name(
    write_log: LogWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(write_log("day.parquet", RECORDS))
    monkeypatch.chdir(tmp_path)
    assert find_logs(["day.parquet"]) == find_logs(["./day.parquet"]) == [path]


def test_an_empty_name_is_not_taken_for_the_folder_one_stands_in(
    write_log: LogWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = str(write_log("day.parquet", RECORDS))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    for nothing in ("", " "):
        with pytest.raises(UserError, match="the log has an empty name"):
            find_logs([nothing])
    assert find_logs(["."]) == find_logs(["~"]) == [path]


def test_what_writers_leave_beside_the_data_is_not_a_log(write_log: LogWriter, tmp_path: Path) -> None:
    path = str(write_log("logs/day.parquet", RECORDS))
    write_log("logs/_temporary/part.parquet", RECORDS)
    write_log("logs/.hidden.parquet", RECORDS)
    (tmp_path / "logs" / "notes.txt").write_text("x")
    assert find_logs([str(tmp_path / "logs")]) == [path]


@pytest.mark.parametrize("place", ["logs", "logs/*.parquet", "logs/day\udcff.parquet"])
def test_a_file_whose_name_is_not_utf_8_is_an_error_that_names_it(
    write_log: LogWriter, tmp_path: Path, place: str
) -> None:
    log = write_log("logs/day.parquet", RECORDS)
    log.rename(log.with_name("day\udcff.parquet"))
    with pytest.raises(UserError, match=r"the name of .*/logs/day\\xff\.parquet is not UTF-8") as refused:
        find_logs([str(tmp_path / place)])
    assert "rename" in refused.value.fix


@pytest.mark.parametrize("place", ["nothing.parquet", "no/*.parquet", "."])
def test_a_place_without_logs_is_an_error_that_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="no Parquet file"):
        find_logs([place])


@pytest.mark.parametrize("path", ["logs", "logs/*.parquet"])
def test_a_bucket_that_does_not_answer_is_not_taken_for_an_empty_one(path: str) -> None:
    nobody = f"endpoint_override=127.0.0.1:{free_port()}&scheme=http&retry_limit_seconds=0.1"
    with pytest.raises(UserError, match=r"cannot look for logs at gs://.*connect"):
        find_logs([f"gs://anonymous@bucket/{path}?{nobody}"])


class HalfSilent(LocalFileSystem):  # type: ignore[misc]
    """Files behind a server that does not answer for one of the folders."""

    protocol = "halfsilent"
    isdir, exists = AbstractFileSystem.isdir, AbstractFileSystem.exists  # as most file systems have them

    def ls(self, path: str, detail: bool = False, **options: Any) -> Any:
        if path.rstrip("/").endswith("silent"):
            raise self.refusal
        return super().ls(path, detail, **options)

    def info(self, path: str, **options: Any) -> Any:
        if str(path).rstrip("/").endswith("silent"):
            raise self.refusal
        return super().info(path, **options)


@pytest.mark.parametrize("refusal", [ConnectionResetError("nobody there"), RuntimeError("nobody there")])
@pytest.mark.parametrize("path", ["", "/**/*.parquet"])
def test_a_folder_of_any_other_file_system_that_does_not_answer_is_not_taken_for_an_empty_one(
    write_log: LogWriter, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refusal: Exception, path: str
) -> None:
    monkeypatch.setattr(HalfSilent, "refusal", refusal, raising=False)
    fsspec.register_implementation("halfsilent", HalfSilent, clobber=True)
    write_log("logs/here/day.parquet", RECORDS)
    place = f"halfsilent://{tmp_path}/logs{path}"
    assert len(find_logs([place])) == 1
    write_log("logs/silent/day.parquet", RECORDS)
    with pytest.raises(UserError, match=r"cannot look for logs at halfsilent://.*nobody there"):
        find_logs([place])


def test_a_pattern_that_means_nothing_is_an_error_that_names_it(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"logs/\*\*\.parquet: .*entire path component"):
        find_logs([f"{tmp_path}/logs/**.parquet"])


def test_what_is_no_file_and_the_finds_of_a_disk_check_are_passed_over(write_log: LogWriter, tmp_path: Path) -> None:
    path = str(write_log("logs/day.parquet", RECORDS))
    write_log("logs/lost+found/old.parquet", RECORDS)
    (tmp_path / "logs" / "gone.parquet").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "logs" / "pipe.parquet")
    assert find_logs([str(tmp_path / "logs")]) == find_logs([f"{tmp_path}/logs/**/*.parquet"]) == [path]


ASKED = {
    "id": "007",
    "prompt": 'She asked: "Who, was\nKartini?"\r\n\tAnd; why?',
    "answer": 'A "reformer",\n\nfrom Jepara\\',
    "ts": "2026-11-11T10:00:00Z",
}


@pytest.mark.parametrize("name", ["a.csv", "it's one.CSV", "a.csv.gz", "a.json", "a.jsonl", "a.ndjson", "a.jsonl.gz"])
def test_text_logs_are_refused_with_a_command_that_makes_them_parquet(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    written = io.StringIO(newline="")
    if ".csv" in name.lower():
        table = csv.DictWriter(written, ASKED)
        table.writeheader()
        table.writerows([ASKED] * 3)
    else:
        written.write(json.dumps([ASKED] * 3) if name == "a.json" else f"{json.dumps(ASKED)}\n" * 3)
    content = written.getvalue().encode()
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(UserError, match="is no Parquet") as refused:
        find_logs([str(path)])
    python, *arguments = shlex.split(refused.value.fix.removeprefix("make it Parquet: "))
    assert python == "python"
    subprocess.run([sys.executable, *arguments], check=True)
    (made,) = find_logs([str(tmp_path)])
    pairs = [RecordMapping().read(record) for record in pq.read_table(made).to_pylist()]
    expected = RecordMapping().read(ASKED)
    assert isinstance(expected, LoggedPair)
    assert pairs == [expected] * 3


def test_a_text_log_among_parquet_is_left_to_be_told_of_as_broken(write_log: LogWriter, tmp_path: Path) -> None:
    path = write_log("logs/day.parquet", RECORDS)
    (tmp_path / "logs" / "a.csv").write_text("id\n")
    assert find_logs([str(tmp_path / "logs" / "*")]) == [str(tmp_path / "logs" / "a.csv"), str(path)]
    assert find_logs([str(tmp_path / "logs")]) == [str(path)]


def test_other_file_systems_open_through_fsspec() -> None:
    import pyarrow as pa

    with fsspec.open("memory://logs/day.parquet", "wb") as stream:
        pq.write_table(pa.Table.from_pylist(RECORDS), stream)
    (found,) = find_logs(["memory://logs"])
    file = inspect(found)
    assert isinstance(file, LogFile)
    assert sum(file.rows) == 10


def test_an_unknown_scheme_says_what_to_install() -> None:
    with pytest.raises(UserError, match="cannot open nosuch://x"):
        find_logs(["nosuch://x/y.parquet"])


def test_the_fingerprint_changes_with_the_content_and_with_a_rewrite(write_log: LogWriter) -> None:
    first = inspect(str(write_log("day.parquet", RECORDS)))
    second = inspect(str(write_log("day.parquet", RECORDS[:9])))
    assert first.fingerprint != second.fingerprint
    path = write_log("day.parquet", RECORDS)
    before = inspect(str(path))
    os.utime(path, ns=(1, 1))
    assert inspect(str(path)).fingerprint != before.fingerprint


@pytest.mark.parametrize("content", [b"", b"PAR1", b"not parquet at all", b"PAR1" + b"\0" * 100 + b"PAR1"])
def test_a_file_that_is_no_parquet_is_broken_and_says_so(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "day.parquet"
    path.write_bytes(content)
    file = inspect(str(path))
    assert isinstance(file, BrokenFile)
    assert file.reason
