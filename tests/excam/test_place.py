"""Names in a bucket are taken as they are."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyarrow.fs import LocalFileSystem, S3FileSystem

from excam.fault import UserError
from excam.place import open_place, refuse_password

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


@pytest.mark.parametrize(
    ("place", "fix"),
    [
        ("s3://me:se%2Fcret@bucket/a b", "AWS_SECRET_ACCESS_KEY"),
        ("abfs://:secret@account.blob.core.windows.net/x", "AZURE_CLIENT_SECRET"),
        ("abfs://me@account.dfs.core.windows.net/x?tenant_id=t&client_secret=hidden-cret", "AZURE_CLIENT_SECRET"),
        ("sftp://me:se@cret@host:22", "FSSPEC_SFTP_PASSWORD"),
        ("s3://me:se/cret@bucket/x", "AWS_SECRET_ACCESS_KEY"),
    ],
)
def test_a_password_in_an_address_is_refused_and_not_repeated(place: str, fix: str) -> None:
    with pytest.raises(UserError, match="holds a password") as fault:
        open_place(place)
    assert fix in fault.value.fix
    assert "cret" not in str(fault.value)


def test_a_name_before_the_host_is_no_password_nor_is_an_at_sign_in_a_key() -> None:
    refuse_password("abfs://container@account.dfs.core.windows.net/a:b@c")
    for place in (
        "s3://bucket:9000/a@b",
        "sftp://me@host:22/a:b@c",
        "sftp://[::1]:22/a@b",
        "/logs/a:b@c",
        "s3://a?x=b:c@d",
    ):
        refuse_password(place)
    assert open_place(f"s3://bucket/a:b@c{OPTIONS}")[1] == "bucket/a:b@c"


def test_a_question_mark_without_options_is_part_of_the_name() -> None:
    assert open_place("gs://anonymous@bucket/day-?.parquet")[1] == "bucket/day-?.parquet"


@pytest.mark.parametrize("name", ["my log ü.parquet", "100%.parquet", "a?b=c.parquet"])
def test_a_path_of_this_machine_is_itself(tmp_path: Path, name: str) -> None:
    filesystem, path = open_place(f"{tmp_path}/{name}")
    assert isinstance(filesystem, LocalFileSystem)
    assert path == f"{tmp_path}/{name}"


def test_a_tilde_that_no_shell_replaced_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ana")
    assert open_place("~/backups")[1] == "/home/ana/backups"


def test_a_file_address_may_be_written_with_escapes_or_without() -> None:
    assert open_place("file:///logs/my%20log ü.parquet")[1] == "/logs/my log ü.parquet"
