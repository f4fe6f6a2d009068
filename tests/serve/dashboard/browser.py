"""A real browser and a real server for the tests that look at pages; screenshots for the documentation."""

from __future__ import annotations

import json
import os
import shutil
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import uvicorn
from selenium.webdriver import Chrome, ChromeOptions
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.support.expected_conditions import staleness_of
from selenium.webdriver.support.ui import WebDriverWait

from serve.dashboard.access import Access
from serve.dashboard.app import build_dashboard
from tests.ports import free_port

SHOTS = Path(__file__).parents[3] / "docs" / "dashboard"
LARGEST = 150_000


@contextmanager
def served(url: str) -> Iterator[str]:
    """A dashboard on a port of its own; its address."""
    port = free_port()
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
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    driver.set_page_load_timeout(120)
    try:
        yield driver
    finally:
        driver.quit()


def text(driver: Chrome, selector: str) -> str:
    return driver.find_element(By.CSS_SELECTOR, selector).text


def follow(driver: Chrome, by: str, selector: str) -> None:
    """Click what leads to another page, and wait until the page it stood on is gone."""
    with left(driver):
        driver.find_element(by, selector).click()


@contextmanager
def left(driver: Chrome) -> Iterator[None]:
    """What happens inside leads to another page: wait until the present one is gone."""
    page = driver.find_element(By.TAG_NAME, "html")
    yield
    WebDriverWait(driver, 30).until(staleness_of(page))


def complaints(driver: Chrome) -> list[str]:
    """What the browser refused or failed at since last asked: a page of ours gives it no reason to."""
    logged = driver.get_log("browser")  # type: ignore[no-untyped-call]
    return [entry["message"] for entry in logged if entry["level"] == "SEVERE"]


def requests(driver: Chrome) -> list[str]:
    """Every address the browser asked for since last asked."""
    logged = driver.get_log("performance")  # type: ignore[no-untyped-call]
    told = [json.loads(entry["message"])["message"] for entry in logged]
    return [one["params"]["request"]["url"] for one in told if one["method"] == "Network.requestWillBeSent"]


@contextmanager
def seen_as(driver: Chrome, media: str = "screen", scheme: str = "light") -> Iterator[None]:
    """The browser as on a dark screen, or as on paper."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": media, "features": features})
    try:
        yield
    finally:
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


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
    """A palette is enough for a page, if every shade of the map has its place in it."""
    from PIL import Image

    with Image.open(path) as image:
        small = image.convert("RGB").quantize(128, method=Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE)
    small.save(path, optimize=True)
    assert path.stat().st_size < LARGEST, f"{path.name} is too large for the repository"
