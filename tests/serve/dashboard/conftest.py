"""One filled store and one dashboard on it for all of these tests; a copy for those that write."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from selenium.webdriver import Chrome

from serve.dashboard.access import Access
from serve.dashboard.app import build_dashboard
from tests.serve.dashboard.browser import chromium, served
from tests.serve.dashboard.world import fill


@pytest.fixture(scope="session")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    fill(f"ducklake:sqlite:{folder}/catalog.sqlite")
    return folder


@pytest.fixture(scope="session")
def driver() -> Iterator[Chrome]:
    """One browser for all tests that look at pages."""
    with chromium() as driver:
        yield driver


@pytest.fixture(scope="session")
def site(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a dashboard that the browser may write to."""
    folder = tmp_path_factory.mktemp("site") / "copy"
    shutil.copytree(filled, folder)
    with served(f"ducklake:sqlite:{folder}/catalog.sqlite") as address:
        yield address


@pytest.fixture
def own_url(filled: Path, tmp_path: Path) -> str:
    """A filled store of the test's own."""
    shutil.copytree(filled, tmp_path / "own")
    return f"ducklake:sqlite:{tmp_path}/own/catalog.sqlite"


def dashboard(url: str, access: Access | None = None) -> TestClient:
    return TestClient(build_dashboard(url, access or Access({})), base_url="http://127.0.0.1")


@pytest.fixture(scope="module")
def shared(filled: Path) -> Iterator[TestClient]:
    with dashboard(f"ducklake:sqlite:{filled}/catalog.sqlite") as client:
        yield client


@pytest.fixture
def client(shared: TestClient, request: pytest.FixtureRequest) -> TestClient:
    """A client of the test's own: many quick tests of one address would ask too much."""
    return TestClient(shared.app, base_url="http://127.0.0.1", client=(request.node.nodeid, 1))
