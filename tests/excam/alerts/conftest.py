"""A store with a rise to be alerted of."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from excam.store import Store
from tests.excam.store.outcomes import START, error, put, verdict


@pytest.fixture(scope="session")
def risen(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Indonesia: 5 % wrong for 28 days, then 50 % for 7; Japan: two answers, both wrong."""
    rows = []
    for number in range(350):
        late = number >= 280
        wrong = number % 2 == 0 if late else number % 20 == 0
        at = START + timedelta(days=number // 10)
        rows.append(verdict(number, logged_at=at, judged_at=at, errors=[error()] if wrong else []))
    rows += [verdict(1000 + n, country="JP", logged_at=START, judged_at=START, errors=[error()]) for n in range(2)]
    folder = tmp_path_factory.mktemp("risen")
    with Store.open(f"ducklake:sqlite:{folder}/catalog.sqlite") as store:
        put(store, *rows)
    return folder


@pytest.fixture
def store(risen: Path, tmp_path: Path, store_url: str) -> Iterator[Store]:
    """That store, copied."""
    shutil.copytree(risen, tmp_path / "store")
    with Store.open(store_url) as store:
        yield store
