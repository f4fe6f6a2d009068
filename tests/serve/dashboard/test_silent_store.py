"""A store whose server accepts and does not answer: readers are told in time, and the dashboard itself stays well."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests.serve.dashboard.browser import served

READERS = 45  # more than the server has threads


@pytest.fixture
def silent_url(tmp_path: Path) -> Iterator[str]:
    """A PostgreSQL that takes connections and says nothing."""
    with socket.create_server(("127.0.0.1", 0), backlog=200) as listening:
        server = f"host=127.0.0.1 port={listening.getsockname()[1]} dbname=excam user=excam connect_timeout=4"
        yield f"ducklake:postgres:{server}?data_path={tmp_path}"


def test_readers_of_a_store_that_does_not_answer_share_one_wait_and_the_dashboard_is_healthy(silent_url: str) -> None:
    with served(silent_url) as address, ThreadPoolExecutor(READERS) as pool, httpx.Client(timeout=60) as client:
        begun = time.monotonic()
        waiting = [pool.submit(client.get, f"{address}/api/summary") for _ in range(READERS)]
        time.sleep(0.5)
        assert client.get(f"{address}/-/health").status_code == 200
        assert not any(answer.done() for answer in waiting), "the answer had to wait for readers"
        assert {answer.result().status_code for answer in waiting} == {503}
        assert time.monotonic() - begun < 30, "each of them would have waited 4 seconds by itself"
