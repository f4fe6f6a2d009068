"""Executions of Ray Data that bear one name leave one log file, and after a few nothing more in memory."""

from __future__ import annotations

import gc
import logging
import sys
from pathlib import Path

import pytest
import ray
from ray.data import DataContext
from ray.data._internal.logging import get_log_directory

from pipelines.executions import forget_executions, named

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("judge")]
WARM, MORE = 45, 30


def execute(name: str, times: int) -> int:
    """Run as many executions; the blocks of memory that Python holds afterwards."""
    DataContext.get_current().enable_progress_bars = False
    for _ in range(times):
        ray.get(named(ray.data.range(4, override_num_blocks=1), name).to_arrow_refs())
        forget_executions()
    gc.collect()
    return sys.getallocatedblocks()


def test_one_more_execution_leaves_nothing_behind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.root.manager, "disable", logging.CRITICAL)  # pytest keeps every word
    before = execute("often", WARM)
    left = (execute("often", MORE) - before) / MORE
    assert left < 40, "two hundred blocks an execution stay where nobody lets go of them"
    logs = [file.name for file in Path(get_log_directory() or "").iterdir()]
    assert sum("often" in name for name in logs) == 1
