"""The application's beginning and end."""

from __future__ import annotations

import time
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from serve.dashboard import pages
from serve.dashboard.access import Access
from serve.dashboard.app import build_dashboard


def test_an_end_right_after_the_beginning_waits_for_what_is_got_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ready: list[object] = []

    def warm(source: object) -> None:
        time.sleep(0.2)
        ready.append(source)

    monkeypatch.setattr(pages, "warm", warm)
    app = build_dashboard(f"ducklake:sqlite:{tmp_path}/catalog.sqlite", Access({}), warm=True)
    with TestClient(app):
        pass
    assert ready == [app.state.source]
