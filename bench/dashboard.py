"""How fast the dashboard is on a large store while somebody writes to it.

    python -m bench.dashboard --rows 1000000

It fills a store with synthetic verdicts, starts the dashboard, commits beside it in another process and times every
API call that the Overview makes, and the page itself.
"""

from __future__ import annotations

import argparse
import multiprocessing
import tempfile
import time
from datetime import UTC, datetime
from multiprocessing.synchronize import Event
from pathlib import Path

import numpy as np
from fastapi.testclient import TestClient

from bench.synthetic import fill
from excam.judge_card import JudgeCard
from excam.outcome import outcome_table
from excam.store import Store
from serve.dashboard.access import Access
from serve.dashboard.app import build_dashboard
from serve.dashboard.pace import Pace

CARD = JudgeCard(base="bench", base_sha256="0" * 64, prompt_sha256="0" * 64, decoding={})
CALLS = ("/api/summary", "/api/trends", "/api/countries", "/api/types", "/api/agreement", "/api/alerts", "/")
PAUSE = 2.0


def write_beside(url: str, stop: Event) -> None:
    """Commit a hundred verdicts every few seconds, as a stream does."""
    number = 0
    with Store.open(url) as store, store.lease("bench") as lease:
        run_id = store.start_run(lease, "score", CARD.judge_version, {})
        while not stop.is_set():
            number += 1
            rows: list[dict[str, object]] = [
                {
                    "kind": "verdict",
                    "source": "bench",
                    "part": number,
                    "row": row,
                    "pair_id": f"beside-{number}-{row}",
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
            time.sleep(PAUSE)


def measure(url: str, rounds: int) -> None:
    # Nobody is slowed down here: the pace that protects a real dashboard would be what is measured.
    Pace.wait = lambda self, client: 0.0  # type: ignore[method-assign]
    with TestClient(build_dashboard(url, Access({})), base_url="http://127.0.0.1") as client:
        client.get("/")
        seconds: dict[str, list[float]] = {call: [] for call in CALLS}
        for _ in range(rounds):
            for call in CALLS:
                begun = time.perf_counter()
                answer = client.get(call)
                seconds[call].append(time.perf_counter() - begun)
                assert answer.status_code == 200, answer.text
    print(f"{'call':<16}{'median ms':>11}{'p95 ms':>9}")
    for call, found in seconds.items():
        print(f"{call:<16}{np.median(found) * 1000:>11.0f}{np.quantile(found, 0.95) * 1000:>9.0f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--folder", type=Path, help="keep the store here; one that is there is used again")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = asked.folder or Path(scratch)
        url = f"ducklake:sqlite:{folder}/catalog.sqlite"
        is_new = not (folder / "catalog.sqlite").exists()
        with Store.open(url) as store:
            store.register_judge(CARD)
            if is_new:
                store.query(fill, asked.rows, CARD.judge_version)
        spawn = multiprocessing.get_context("spawn")
        stop = spawn.Event()
        writer = spawn.Process(target=write_beside, args=(url, stop))
        writer.start()
        try:
            measure(url, asked.rounds)
        finally:
            stop.set()
            writer.join()


if __name__ == "__main__":
    main()
