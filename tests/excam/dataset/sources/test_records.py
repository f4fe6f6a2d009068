"""Files are read in every format the sources come in, and damage is a value that says where it is."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.dataset.item import BadRecord
from excam.dataset.sources.records import Row, Words, read_records, read_rows


class Greeting(Row):
    word: Words
    times: int = 1


def rows(path: Path) -> list[tuple[str, Greeting] | BadRecord]:
    return list(read_rows("test", path, Greeting))


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.jsonl", b'{"word": "salam", "times": 2}\n{"word": "selam"}\n'),
        ("a.jsonl.gz", gzip.compress(b'{"word": "salam", "times": 2}\n{"word": "selam"}\n', mtime=0)),
        ("a.json", b'[{"word": "salam", "times": 2}, {"word": "selam"}]'),
        ("a.json", b'{"entries": [{"word": "salam", "times": 2}, {"word": "selam"}]}'),
        ("a.json", b'{"x": {"word": "salam", "times": 2}, "y": {"word": "selam"}}'),
        ("a.json", b'{"word": "salam", "times": 2}\n{"word": "selam"}\n'),
        ("a.csv", "\ufeffword,times\nsalam,2\nselam,1\n".encode()),
        ("a.tsv", b"word\ttimes\nsalam\t2\nselam\t1\n"),
    ],
)
def test_every_published_format_gives_the_same_records(tmp_path: Path, name: str, content: bytes) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    found = [row[1] for row in rows(path) if isinstance(row, tuple)]
    assert [(greeting.word, greeting.times) for greeting in found] == [("salam", 2), ("selam", 1)]


def test_enumerated_parquet_columns_are_read_by_their_names(tmp_path: Path) -> None:
    features = {"info": {"features": {"word": {"names": ["salam", "selam"], "_type": "ClassLabel"}}}}
    table = pa.table({"word": [1, 0]}).replace_schema_metadata({"huggingface": json.dumps(features)})
    pq.write_table(table, tmp_path / "a.parquet")
    assert [row[1].word for row in rows(tmp_path / "a.parquet") if isinstance(row, tuple)] == ["selam", "salam"]


def test_a_spreadsheet_is_read_by_its_header(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book = openpyxl.Workbook()
    for line in (("word", "times"), ("salam", 2)):
        book.active.append(line)
    book.save(tmp_path / "a.xlsx")
    (row,) = rows(tmp_path / "a.xlsx")
    assert isinstance(row, tuple)
    assert row[1] == Greeting(word="salam", times=2)


def test_a_bad_record_names_file_line_and_field_and_the_rest_is_read(tmp_path: Path) -> None:
    path = tmp_path / "greetings" / "a.jsonl"
    path.parent.mkdir()
    path.write_bytes(
        b'{"word": "salam"}\n{"word": "  "}\nnot json\n[1]\n"hi"\n{"times": "many", "word": "x"}\n{"word": "selam"}\n'
    )
    good, empty, broken, listed, said, many, last = rows(path)
    assert isinstance(good, tuple)
    assert isinstance(last, tuple)
    assert good[0] == "greetings/a.jsonl:1"
    assert isinstance(empty, BadRecord)
    assert empty.place == "greetings/a.jsonl:2"
    assert empty.reason.startswith("word: ")
    assert isinstance(broken, BadRecord)
    assert broken.reason == "line: not JSON (Expecting value)"
    assert isinstance(listed, BadRecord)
    assert listed.reason == "record: list where an object belongs"
    assert isinstance(said, BadRecord)
    assert said.reason == "record: str where an object belongs"
    assert isinstance(many, BadRecord)
    assert many.reason.startswith("times: ")


def test_text_that_is_not_unicode_is_a_bad_record(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_bytes(b'{"word": "\\ud800"}\n{"word": "\xff"}\n')
    (tmp_path / "a.csv").write_bytes(b"word,times\n\xff,1\n")
    found = rows(tmp_path / "a.jsonl") + rows(tmp_path / "a.csv")
    assert len(found) == 3
    assert all(isinstance(row, BadRecord) for row in found)


def test_a_row_that_does_not_fit_its_header_is_a_bad_record(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_bytes(b"word,times\nsalam,1,2\nselam\nmerhaba,3\n")
    long, short, fitting = rows(tmp_path / "a.csv")
    assert isinstance(long, BadRecord)
    assert isinstance(short, BadRecord)
    assert isinstance(fitting, tuple)


def test_a_truncated_file_gives_what_could_be_read_and_says_where_it_ends(tmp_path: Path) -> None:
    lines = b"".join(json.dumps({"word": f"word {number}"}).encode() + b"\n" for number in range(5000))
    (tmp_path / "a.jsonl.gz").write_bytes(gzip.compress(lines, mtime=0)[:-2000])
    found = rows(tmp_path / "a.jsonl.gz")
    assert isinstance(found[-1], BadRecord)
    assert "cannot be read from here on" in found[-1].reason
    assert all(isinstance(row, tuple) for row in found[:-2])
    assert len(found) > 100


def test_a_file_nested_beyond_reason_is_a_bad_record(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_bytes(b"[" * 100_000)
    (found,) = rows(tmp_path / "a.json")
    assert isinstance(found, BadRecord)
    assert "cannot be read" in found.reason


def test_a_packed_folder_is_read_by_the_file_in_it(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.jsonl.zip", "w") as archive:
        archive.mkdir("greetings")
        archive.writestr("greetings/a.jsonl", '{"word": "salam"}')
    (found,) = rows(tmp_path / "a.jsonl.zip")
    assert isinstance(found, tuple)


@settings(deadline=None)
@given(
    st.binary(max_size=300),
    st.sampled_from(["a.jsonl", "a.json", "a.csv", "a.jsonl.gz", "a.parquet", "a.xlsx", "a.zip"]),
)
def test_no_bytes_whatever_raise(tmp_path_factory: pytest.TempPathFactory, content: bytes, name: str) -> None:
    path = tmp_path_factory.mktemp("wild") / name
    path.write_bytes(content)
    for place, fields in read_records("test", path):
        assert place
        assert isinstance(fields, dict | BadRecord)
