"""Store URLs: where a store is, without ever showing a password."""

from __future__ import annotations

import shlex
import shutil
from contextlib import suppress
from pathlib import Path

import duckdb
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from excam.fault import UserError
from excam.store import NoStoreError, Store, StoreUrl
from excam.store.connection import connect, unreachable
from tests.excam.store.conftest import NewUrl
from tests.postgres import Postgres


def test_a_sqlite_store_keeps_its_data_beside_the_catalogue(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    url = StoreUrl.parse("ducklake:sqlite:./here/catalog.sqlite")
    assert url.path == tmp_path / "here/catalog.sqlite"
    assert url.data_path == str(tmp_path / "here/catalog.data")


@pytest.mark.parametrize(
    "text",
    [
        "ducklake:sqlite:/a/b c's.sqlite",
        "ducklake:sqlite:/a/b.sqlite?data_path=s3://bucket/excam",
        "ducklake:postgres:host=db.example port=5433 dbname=lake user=me?data_path=/data",
        "ducklake:postgres:host='my host' dbname=lake?data_path=s3://bucket/a",
        "ducklake:postgres:dbname=lake passfile=/run/secrets/pgpass",
    ],
)
def test_a_url_printed_and_read_again_is_the_same(text: str) -> None:
    url = StoreUrl.parse(text)
    assert StoreUrl.parse(str(url)) == url


def test_a_postgres_uri_says_the_same_as_key_values() -> None:
    uri = StoreUrl.parse("ducklake:postgres://me@db.example:5433/lake?sslmode=require&data_path=/data")
    assert uri == StoreUrl.parse(
        "ducklake:postgres:host=db.example port=5433 user=me dbname=lake sslmode=require?data_path=/data"
    )


def test_a_server_is_waited_for_ten_seconds_unless_the_user_says_how_long(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PGCONNECT_TIMEOUT", raising=False)
    url = StoreUrl.parse("ducklake:postgres:host=db dbname=lake")
    assert "connect_timeout=10" in url.catalogue_target
    assert str(url) == "ducklake:postgres:host=db dbname=lake"
    monkeypatch.setenv("PGCONNECT_TIMEOUT", "20")
    assert "connect_timeout=20" in url.catalogue_target
    own = StoreUrl.parse("ducklake:postgres:host=db dbname=lake connect_timeout=30 keepalives_idle=5").catalogue_target
    assert ("connect_timeout=30" in own, "keepalives_idle=5" in own, own.count("_timeout=")) == (True, True, 2)


@pytest.mark.parametrize(
    "text",
    [
        "ducklake:postgres:host=h dbname=d password=tr0ub4dor?data_path=/d",
        "ducklake:postgres:host=h dbname=d password='tr0ub4dor'",
        "ducklake:postgres:host=h dbname=d sslkey=/k sslpassword=tr0ub4dor",
        "ducklake:postgres:host=h dbname=d PASSWORD=tr0ub4dor",
        "ducklake:postgres://me@h/d?oauth_client_secret=tr0ub4dor",
        "ducklake:postgres://me:tr0ub4dor@h/d?data_path=/d",
        "postgres://me:tr0ub4dor@h/d",
        "ducklake:mysql:password=tr0ub4dor",
        "ducklake:postgres:tr0ub4dor",
        "ducklake:postgres:host=h dbname=d?data_path=s3://me:tr0ub4dor@bucket/d",
        "ducklake:sqlite:./a.sqlite?data_path=s3://me:tr0ub4dor@bucket/d",
        "mysql://me:tr0ub4dor@h/d",
        "me:tr0ub4dor@h/d",
        "host=h dbname=d password=tr0ub4dor",
    ],
)
def test_a_url_with_a_password_is_refused_without_repeating_it(text: str) -> None:
    with pytest.raises(UserError) as refused:
        StoreUrl.parse(text)
    assert "tr0ub4dor" not in str(refused.value)
    assert refused.value.fix


def test_a_sqlite_catalogue_in_a_bucket_is_refused_and_no_folder_of_that_name_made() -> None:
    with pytest.raises(UserError, match="a file on a disk") as refused:
        StoreUrl.parse("ducklake:sqlite:s3://bucket/catalog.sqlite")
    assert "data_path=" in refused.value.fix


def test_the_example_for_a_url_without_its_beginning_is_one_that_works() -> None:
    for text in ("./a.sqlite", "sqlite:./a.sqlite"):
        with pytest.raises(UserError) as refused:
            StoreUrl.parse(text)
        assert refused.value.fix.endswith("for example ducklake:sqlite:./a.sqlite")


@given(st.text(max_size=60))
@example("/")
def test_any_text_is_a_store_or_the_users_mistake(text: str) -> None:
    for prefix in ("", "ducklake:sqlite:", "ducklake:postgres:", "ducklake:postgres://"):
        with suppress(UserError):
            StoreUrl.parse(prefix + text)


def test_reading_a_store_that_is_not_there_says_so(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="there is no store at"):
        Store.open(f"ducklake:sqlite:{tmp_path}/none/catalog.sqlite", read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_store_that_must_exist_is_not_made(new_url: NewUrl, tmp_path: Path) -> None:
    url = new_url()
    with pytest.raises(NoStoreError, match="there is no store at") as refused:
        Store.open(url, create=False)
    assert f"excam store init --store {shlex.quote(str(StoreUrl.parse(url)))}" in refused.value.fix
    with pytest.raises(NoStoreError):
        Store.open(url, read_only=True)
    assert list(tmp_path.iterdir()) == []


def test_a_lake_without_our_tables_is_no_store_that_exists(new_sqlite: NewUrl) -> None:
    url = new_sqlite()
    connect(StoreUrl.parse(url), read_only=False, create=True).close()
    with pytest.raises(NoStoreError):
        Store.open(url, create=False)
    Store.open(url).close()
    Store.open(url, create=False).close()


def test_a_store_whose_data_files_are_gone_says_so_at_once(sqlite_url: str) -> None:
    data = StoreUrl.parse(sqlite_url).data_path
    assert data
    shutil.rmtree(data)
    with pytest.raises(UserError, match=f"there is no folder {data}"):
        Store.open(sqlite_url, read_only=True)


def test_a_file_that_cannot_be_opened_is_no_defect(sqlite_store: Store, tmp_path: Path) -> None:
    Path(f"{sqlite_store.url.path}-lease").mkdir()
    with pytest.raises(UserError, match="cannot be opened"):
        sqlite_store.lease()


def test_a_folder_that_cannot_be_written_to_is_named_to_a_reader_too(tmp_path: Path) -> None:
    url = StoreUrl.parse(f"ducklake:sqlite:{tmp_path}/catalog.sqlite")
    refused = unreachable(url, duckdb.IOException("Failed to prepare query: attempt to write a readonly database"))
    assert f"nothing can be written to {tmp_path}" in refused.message
    assert "for readers too" in refused.fix


def test_a_catalogue_that_is_no_database_is_the_users_mistake(tmp_path: Path) -> None:
    file = tmp_path / "catalog.sqlite"
    file.write_text("this is not a database " * 100)
    with pytest.raises(UserError, match="cannot be opened"):
        Store.open(f"ducklake:sqlite:{file}")


@pytest.mark.postgres
def test_a_password_appears_in_no_error_and_no_description(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    database = postgres.database()
    monkeypatch.setenv("EXCAM_STORE_PASSWORD", "hunter2-wrong")
    with pytest.raises(UserError) as refused:
        Store.open(f"ducklake:postgres:{database}?data_path={tmp_path}")
    assert "password authentication failed" in str(refused.value)
    assert "hunter2" not in str(refused.value)

    monkeypatch.setenv("EXCAM_STORE_PASSWORD", postgres.password)
    with Store.open(f"ducklake:postgres:{database}?data_path={tmp_path}/data") as store:
        shown = [repr(store), str(store.url), repr(store.url), store.data_path, store.staging]
        with store._connection.cursor() as connection:
            shown += [str(connection.execute(f"FROM {name}()").fetchall()) for name in ("duckdb_secrets",)]
            with pytest.raises(Exception, match="nothing_here") as failed:
                connection.execute("FROM lake.nothing_here")
        shown.append(str(failed.value))
    assert not [text for text in shown if postgres.password in text]


@pytest.mark.postgres
def test_the_password_may_come_from_libpqs_own_places_and_the_data_path_from_the_store(
    postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("EXCAM_STORE_PASSWORD", raising=False)
    monkeypatch.setenv("PGPASSWORD", postgres.password)
    database = postgres.database()
    with pytest.raises(UserError, match="needs a place for its data files"):
        Store.open(f"ducklake:postgres:{database}")
    Store.open(f"ducklake:postgres:{database}?data_path={tmp_path}/data").close()
    monkeypatch.delenv("PGPASSWORD")
    passfile = tmp_path / "pgpass"
    passfile.write_text(f"*:*:*:*:{postgres.password}\n")
    passfile.chmod(0o600)
    with Store.open(f"ducklake:postgres:{database} passfile={passfile}") as store:
        assert store.staging == f"{tmp_path}/data/staging"
