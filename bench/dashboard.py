"""How fast the dashboard is on a large store while somebody writes to it.

    python -m bench.dashboard --rows 1000000 --folder bench-store --loads 20

It fills a store with synthetic verdicts (or takes the one that is there), starts the dashboard in a process of its own,
commits beside it in another, and times every call that the Overview makes, over HTTP, and the page itself in Chromium
where it is installed. All runs are told, the slowest call of each with them.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from multiprocessing.context import SpawnContext
from multiprocessing.synchronize import Event
from pathlib import Path

import httpx
import numpy as np

from bench.synthetic import fill
from excam.judge_card import JudgeCard
from excam.outcome import outcome_table
from excam.store import Store
from tests.ports import free_port

CARD = JudgeCard(base="bench", base_sha256="0" * 64, prompt_sha256="0" * 64, decoding={})
CALLS = (
    "/api/summary",
    "/api/trends",
    "/api/countries",
    "/api/types",
    "/api/agreement",
    "/api/alerts",
    "/api/reports",
    "/",
)
FILTERED = ("/?country=AB", "/?app=app-1&since=2025-06-01", "/?type=customs&severity=major")
PAUSE = 2.0


def write_beside(url: str, stop: Event) -> None:
    """Commit a hundred verdicts every two seconds, as a stream does."""
    number = 0
    with Store.open(url) as store, store.lease("bench", wait=60) as lease:
        run_id = store.start_run(lease, "score", CARD.judge_version, {})
        while not stop.is_set():
            number += 1
            rows: list[dict[str, object]] = [
                {
                    "kind": "verdict",
                    "source": "bench",
                    "part": number,
                    "row": row,
                    "pair_id": f"{run_id}-{number}-{row}",
                    "content_hash": f"{number:016x}{row:016x}",
                    "instruction": "question",
                    "output": "answer",
                    "logged_at": datetime(2025, 12, 30, tzinfo=UTC),
                    "country": "ID",
                    "sample_share": 1.0,
                    "status": "correct",
                    "score": 0.9,
                    "p_error": 0.1,
                    "report": '{"errors": []}',
                    "errors": [],
                }
                for row in range(100)
            ]
            store.commit(lease, run_id, CARD.judge_version, [outcome_table(rows)], [])
            stop.wait(PAUSE)
        store.end_run(lease, run_id, "done", {})


def serve_dashboard(url: str, port: int) -> None:
    """The dashboard as `excam dashboard` starts it, but with no limit on how fast one client may ask."""
    import uvicorn

    from serve.dashboard.access import Access
    from serve.dashboard.app import build_dashboard
    from serve.dashboard.pace import Pace

    Pace.wait = lambda self, client: 0.0  # type: ignore[method-assign]
    uvicorn.run(build_dashboard(url, Access({}), warm=True), host="127.0.0.1", port=port, log_level="warning")


@contextmanager
def dashboard(spawn: SpawnContext, url: str) -> Iterator[str]:
    port = free_port()
    server = spawn.Process(target=serve_dashboard, args=(url, port), daemon=True)
    server.start()
    address = f"http://127.0.0.1:{port}"
    while not _is_up(address):
        time.sleep(0.05)
    try:
        yield address
    finally:
        server.terminate()
        server.join()


def _is_up(address: str) -> bool:
    try:
        return httpx.get(f"{address}/-/health").status_code == 200
    except httpx.TransportError:
        return False


def time_calls(address: str, rounds: int) -> None:
    """Each call in turn, round after round; a pause lets commits fall between calls as they do in life."""
    seconds: dict[str, list[float]] = {call: [] for call in (*CALLS, *FILTERED)}
    with httpx.Client(timeout=60) as client:
        for _ in range(rounds):
            for call, found in seconds.items():
                begun = time.perf_counter()
                answer = client.get(address + call)
                found.append(time.perf_counter() - begun)
                assert answer.status_code == 200, answer.text
            time.sleep(PAUSE / 3)
    print(f"{'call':<34}{'median ms':>11}{'p95 ms':>9}{'slowest ms':>12}")
    for call, found in seconds.items():
        middle, most = np.median(found), np.quantile(found, 0.95)
        print(f"{call:<34}{middle * 1000:>11.0f}{most * 1000:>9.0f}{max(found) * 1000:>12.0f}")


def time_pages(address: str, loads: int) -> None:
    """From asking for the page to its load event, in a browser that keeps nothing between loads."""
    if not shutil.which("chromedriver"):
        print("no chromedriver: the page was not timed in a browser")
        return
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = shutil.which("chromium") or "chromium"
    for argument in ("--headless=new", "--disable-gpu", "--no-sandbox", "--disable-dev-shm-usage"):
        options.add_argument(argument)
    driver = Chrome(options=options, service=Service(shutil.which("chromedriver")))
    try:
        ready = []
        for _ in range(loads):
            driver.get("about:blank")
            driver.get(address)
            ready.append(driver.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd"))
            time.sleep(PAUSE / 3)
    finally:
        driver.quit()
    print(f"page ready in Chromium, ms: {', '.join(f'{one:.0f}' for one in ready)}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--loads", type=int, default=10, help="how often the page is loaded in a browser")
    parser.add_argument("--folder", type=Path, help="keep the store here; one that is there is used again")
    asked = parser.parse_args()
    spawn = multiprocessing.get_context("spawn")
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch)
        url = f"ducklake:sqlite:{folder}/catalog.sqlite"
        is_new = not (folder / "catalog.sqlite").exists()
        with Store.open(url) as store:
            store.register_judge(CARD)
            if is_new:
                store.query(fill, asked.rows, CARD.judge_version)
        stop = spawn.Event()
        writer = spawn.Process(target=write_beside, args=(url, stop))
        writer.start()
        try:
            with dashboard(spawn, url) as address:
                print(f"load of this machine at the start: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
                begun = time.perf_counter()
                httpx.get(address, timeout=60)
                print(f"first page after the start: {(time.perf_counter() - begun) * 1000:.0f} ms")
                time_calls(address, asked.rounds)
                time_pages(address, asked.loads)
                print(f"load of this machine at the end: {os.getloadavg()[0]:.1f}")
        finally:
            stop.set()
            writer.join()


if __name__ == "__main__":
    main()
