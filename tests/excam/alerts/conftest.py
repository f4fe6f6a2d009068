"""A store with a rise to be alerted of."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

import pytest

from excam.store import Store
from tests.excam.store.outcomes import START, error, put, verdict


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """Indonesia: 5 % wrong for 28 days, then 50 % for 7; Japan: two answers, both wrong."""
    rows = []
    for number in range(350):
        late = number >= 280
        wrong = number % 2 == 0 if late else number % 20 == 0
        at = START + timedelta(days=number // 10)
        rows.append(verdict(number, logged_at=at, judged_at=at, errors=[error()] if wrong else []))
    rows += [verdict(1000 + n, country="JP", logged_at=START, judged_at=START, errors=[error()]) for n in range(2)]
    with Store.open(store_url) as store:
        put(store, *rows)
        yield store
