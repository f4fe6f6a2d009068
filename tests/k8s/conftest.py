"""Tests of the manifests share one set of schemas; those that need a cluster run only when asked for: make test-k8s."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.k8s.schemas import Schemas


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "cluster: needs the cluster in KUBECONFIG; `make test-k8s` runs them")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    asked = "cluster" in config.getoption("markexpr", "")
    return True if collection_path.name == "cluster" and not asked else None


@pytest.fixture(scope="session")
def schemas() -> Schemas:
    return Schemas()
