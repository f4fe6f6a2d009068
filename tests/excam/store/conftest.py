"""Stores for tests: the same specification runs on a SQLite catalogue and on a real PostgreSQL."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from excam.store import Store
from tests.postgres import Postgres, running_postgres


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


@pytest.fixture
def postgres_url(postgres: Postgres, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("EXCAM_STORE_PASSWORD", postgres.password)
    return f"ducklake:postgres:{postgres.database()}?data_path={tmp_path}/data"


@pytest.fixture(params=["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)])
def store_url(request: pytest.FixtureRequest) -> str:
    url: str = request.getfixturevalue(f"{request.param}_url")
    return url


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    with Store.open(store_url) as opened:
        yield opened


@pytest.fixture
def sqlite_store(sqlite_url: str) -> Iterator[Store]:
    with Store.open(sqlite_url) as opened:
        yield opened
