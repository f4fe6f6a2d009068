"""Stores for tests: the same specification runs on a SQLite catalogue and on a real PostgreSQL."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from excam.store import Store
from tests.postgres import Postgres, running_postgres

NewUrl = Callable[[], str]


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    with running_postgres() as server:
        yield server


@pytest.fixture(scope="session")
def empty_store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a new store; copying it is quicker than making another."""
    folder = tmp_path_factory.mktemp("empty")
    Store.open(f"ducklake:sqlite:{folder}/catalog.sqlite").close()
    return folder


@pytest.fixture
def sqlite_url(empty_store: Path, tmp_path: Path) -> str:
    shutil.copytree(empty_store, tmp_path / "store")
    return f"ducklake:sqlite:{tmp_path}/store/catalog.sqlite"


@pytest.fixture(scope="session")
def empty_database(postgres: Postgres, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, Path]:
    """A database with a new store and the folder of its files; PostgreSQL copies it quicker than we make another."""
    name, folder = "empty_store", tmp_path_factory.mktemp("postgres") / "data"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXCAM_STORE_PASSWORD", postgres.password)
        Store.open(f"ducklake:postgres:{postgres.database(name)}?data_path={folder}").close()
    return name, folder


@pytest.fixture
def postgres_url(
    postgres: Postgres, empty_database: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> str:
    monkeypatch.setenv("EXCAM_STORE_PASSWORD", postgres.password)
    name, folder = empty_database
    shutil.copytree(folder, tmp_path / "data")
    return f"ducklake:postgres:{postgres.database(template=name)}?data_path={tmp_path}/data"


@pytest.fixture
def new_sqlite(tmp_path: Path) -> NewUrl:
    """Places where there is no store yet."""
    return lambda: f"ducklake:sqlite:{tmp_path}/{secrets.token_hex(4)}/catalog.sqlite"


@pytest.fixture
def new_postgres(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> NewUrl:
    """The same on the server."""
    monkeypatch.setenv("EXCAM_STORE_PASSWORD", postgres.password)
    return lambda: f"ducklake:postgres:{postgres.database()}?data_path={tmp_path}/{secrets.token_hex(4)}"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def new_url(request: pytest.FixtureRequest) -> NewUrl:
    made: NewUrl = request.getfixturevalue(f"new_{request.param}")
    return made


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with _opened(store_url) as opened:
        yield opened


@pytest.fixture
def sqlite_store(sqlite_url: str) -> Iterator[Store]:
    with _opened(sqlite_url) as opened:
        yield opened


def _opened(url: str) -> Store:
    """A store whose statements run in one thread: on a handful of rows others would cost a third more for nothing."""
    store = Store.open(url)
    store.query(lambda connection: connection.execute("SET GLOBAL threads = 1"))
    return store
