"""What the tests of ``excam`` share: a process in which only what they make is looked through for garbage."""

from __future__ import annotations

import gc

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave modules and collected tests, which live to the end, out of every later search for garbage."""
    gc.freeze()
