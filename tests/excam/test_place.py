"""Names in a bucket are taken as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.fs import LocalFileSystem, S3FileSystem

from excam.place import open_place

OPTIONS = "?region=eu-west-1&endpoint_override=127.0.0.1:9&scheme=http"
NAMES = st.text(st.characters(exclude_categories=["C"], exclude_characters="/?"), min_size=1).filter(
    lambda name: not set(name) <= {"."}
)


@given(st.lists(NAMES, min_size=1, max_size=3).map("/".join))
def test_any_key_of_a_bucket_is_the_path_in_it(key: str) -> None:
    filesystem, path = open_place(f"s3://bucket/{key}{OPTIONS}")
    assert isinstance(filesystem, S3FileSystem)
    assert path == f"bucket/{key}"
    assert filesystem.region == "eu-west-1"


def test_keys_before_the_bucket_stay_as_they_are_written() -> None:
    assert open_place(f"s3://me:se%2Fcret@bucket/a b{OPTIONS}")[1] == "bucket/a b"


def test_a_question_mark_without_options_is_part_of_the_name() -> None:
    assert open_place("gs://anonymous@bucket/day-?.parquet")[1] == "bucket/day-?.parquet"


@pytest.mark.parametrize("name", ["my log ü.parquet", "100%.parquet", "a?b=c.parquet"])
def test_a_path_of_this_machine_is_itself(tmp_path: Path, name: str) -> None:
    filesystem, path = open_place(f"{tmp_path}/{name}")
    assert isinstance(filesystem, LocalFileSystem)
    assert path == f"{tmp_path}/{name}"


def test_a_file_address_may_be_written_with_escapes_or_without() -> None:
    assert open_place("file:///logs/my%20log ü.parquet")[1] == "/logs/my log ü.parquet"
