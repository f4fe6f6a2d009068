"""A real browser and a real server for the tests that look at pages; screenshots for the documentation."""

from __future__ import annotations

import os
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service

from serve.dashboard.access import Access
from serve.dashboard.app import build_dashboard

SHOTS = Path(__file__).parents[3] / "docs" / "dashboard"
LARGEST = 150_000


@contextmanager
def served(url: str) -> Iterator[str]:
    """A dashboard on a port of its own; its address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    config = uvicorn.Config(build_dashboard(url, Access({})), host="127.0.0.1", port=port, log_level="warning")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=20)


@contextmanager
def chromium() -> Iterator[Chrome]:
    """The distribution's Chromium without a window; everything the pages log is kept."""
    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ("--headless=new", "--disable-gpu", "--no-sandbox", "--hide-scrollbars", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    options.add_argument("--window-size=1200,900")
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(120)
    try:
        yield driver
    finally:
        driver.quit()


def shoot(driver: Chrome, name: str, height: int = 1200, width: int = 1200) -> Path | None:
    """Keep a screenshot for docs/ where EXCAM_SCREENSHOTS asks for it, small enough to be in a repository."""
    if not os.environ.get("EXCAM_SCREENSHOTS"):
        return None
    driver.set_window_size(width, height)
    SHOTS.mkdir(parents=True, exist_ok=True)
    path = SHOTS / f"{name}.png"
    driver.save_screenshot(str(path))
    _shrink(path)
    driver.set_window_size(1200, 900)
    return path


def _shrink(path: Path) -> None:
    """A palette of 64 colours is enough for a page."""
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(64)
    small.save(path, optimize=True)
    assert path.stat().st_size < LARGEST, f"{path.name} is too large for the repository"
