"""What tests share: one real judge (SmolLM2-135M in vLLM behind Ray Serve) for all of them, and logs to judge."""

from __future__ import annotations

import gc
import os
import signal
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import setuptools  # noqa: F401 - must come before anything imports distutils, or torch's extensions refuse to load
from hypothesis import settings

# Tests of the metric run beside those of the engine: it must neither yield to them (Ray starts workers at niceness 15)
# nor wait for its other thread by spinning, which on shared cores takes ten times as long.
os.environ.setdefault("RAY_worker_niceness", "0")
os.environ.setdefault("OMP_WAIT_POLICY", "passive")
# What Ray looks after many times a second would be a twentieth of all that tests of pipelines compute.
os.environ.setdefault("RAY_SERVE_CONTROL_LOOP_INTERVAL_S", "0.5")
os.environ.setdefault("REPORTER_UPDATE_INTERVAL_MS", "10000")
# A run in the background is born deaf to Ctrl-C, and so would all be that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)
# How long an example takes says nothing on shared cores.
settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
START = datetime(2026, 9, 1, tzinfo=UTC)
COUNTRIES = ("Indonesia", "Japan", "Mexico", "Nigeria", "Germany")

LogWriter = Callable[..., Path]


SYSTEM = ("tests/pipelines/", "tests/serve/", "tests/train/", "tests/chaos/")
STORES = ("tests/excam/store/", "tests/excam/cli/test_store_commands.py", "tests/excam/alerts/")


def pytest_configure(config: pytest.Config) -> None:
    """Let what tests start see the libraries that users have, and not those that tests alone need for reference."""
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        paths = [str(Path(__file__).parent / "as_installed"), os.environ.get("PYTHONPATH")]
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, paths))


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests by where they stand: what opens a store, what is of folders that start engines, what goes together.

    Tests of one file share what they set up, and those of the manifests what they fetch, so one process takes them all.
    """
    file = item.nodeid.partition("::")[0]
    item.add_marker(pytest.mark.xdist_group("manifests" if file.startswith("tests/k8s/") else file))
    if item.nodeid.startswith(STORES):
        item.add_marker(pytest.mark.store)
    if item.nodeid.startswith(SYSTEM):
        item.add_marker(pytest.mark.system)


def pytest_collection_finish() -> None:
    """Take what was imported out of the search for garbage: runs and stores have it searched when they end."""
    gc.collect()
    gc.freeze()


def pair_record(number: int, **changes: Any) -> dict[str, Any]:
    """A plausible log record; every number gives another text."""
    country = COUNTRIES[number % len(COUNTRIES)]
    record = {
        "pair_id": f"pair-{number}",
        "instruction": f"What do people in {country} eat at family feast number {number}?",
        "output": f"At feast number {number} families in {country} share a traditional meal and sweets.",
        "logged_at": START + timedelta(hours=number),
        "app": "helper",
        "model": "old" if number % 2 else "new",
    }
    return record | changes


@pytest.fixture
def write_log(tmp_path: Path) -> LogWriter:
    """Write records as a Parquet log below the test's folder."""

    def write(name: str, records: list[dict[str, Any]], **options: Any) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(pa.Table.from_pylist(records), path, **options)
        return path

    return write


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    return f"ducklake:sqlite:{tmp_path}/store/catalog.sqlite"


@pytest.fixture(scope="session")
def judge_settings() -> Any:
    """A judge that decides by one token and, with this threshold, seldom writes a report: fast enough for tests."""
    from serve.settings import JudgeSettings

    one = {"cpu_engines": 1, "cpu_threads": 1}  # starts in half the time of several, and waits for no other thread
    return JudgeSettings.load(
        None, base="smollm2-135m", adapter="none", threshold=1.0, max_prompt_tokens=512, engine=one
    )


@pytest.fixture(scope="session")
def judge(judge_settings: Any) -> Iterator[Any]:
    """The running judge's handle and card; Ray and Serve are started once and stopped at the end."""
    import ray

    from serve.start import start_judge

    yield start_judge(judge_settings)
    ray.shutdown()
