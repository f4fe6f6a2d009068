"""How much room pairs of production length take in a store, after compaction: bytes a judged pair, by table.

    python -m bench.size --pairs 20000
    python -m bench.size --pairs 56000 --words 1000 --batch 80     (a stream of long answers, in small commits)
    python -m bench.size --pairs 2400000 --words 20 --batch 8000   (a month of short ones, in large commits)

One pair in ten holds an error with an explanation of a sentence, and texts are random words, which compress less than
prose does. Texts are kept once for each content hash: traffic that repeats itself takes less. What compaction and a
backup take in memory is told beside it.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.footprint import Footprint
from bench.pairs import bench_pairs, pair_table
from excam.judge_card import JudgeCard
from excam.memory import give_back
from excam.outcome import outcome_table
from excam.pair import content_hash
from excam.store import Store

START = datetime(2026, 9, 1, tzinfo=UTC)
CARD = JudgeCard(base="bench", base_sha256="0" * 64, prompt_sha256="1" * 64, decoding={})
ERROR = {
    "severity": "major",
    "type": "wrong custom",
    "category": "customs",
    "location": "output",
    "span": "usually go like this",
    "start": 10,
    "end": 30,
    "match": "exact",
    "explanation": "People there do it another way, and a visitor who follows this would give offence to the hosts.",
}


def measure(count: int, words: int, batch: int) -> dict[str, float]:
    """Commit made-up pairs as a nightly run does, compact, back up, and divide what is left by their number."""
    with tempfile.TemporaryDirectory() as folder, Store.open(f"ducklake:sqlite:{folder}/catalog.sqlite") as store:
        with store.lease() as lease:
            judge = store.register_judge(CARD)
            run = store.start_run(lease, "bench", judge, {})
            for first in range(0, count, batch):
                rows = _outcomes(first, min(batch, count - first), words)
                store.commit(lease, run, judge, [outcome_table(rows)], [])
            with _watched("compaction"):
                size, _ = store.compact(lease, timedelta(0), timedelta(0))
            print(f"{size.files:,} files of {size.bytes / 1e6:.0f} MB were there before")
        with _watched("backup"):
            store.backup(f"{folder}/backups")
        tables = store.query(
            lambda connection: connection.execute(
                "SELECT table_name, file_size_bytes FROM ducklake_table_info('lake') WHERE file_size_bytes > 0"
            ).fetchall()
        )
    return {str(name): size / count for name, size in tables}


@contextmanager
def _watched(what: str) -> Iterator[None]:
    """Tell how long something took, and how much memory."""
    give_back()
    with Footprint() as footprint:
        time.sleep(1)
        begun, before = time.monotonic(), footprint.most("driver")
        yield
        seconds = time.monotonic() - begun
    print(f"{what}: {seconds:.1f} s, {before:.0f} MB of memory before, {footprint.most('driver'):.0f} at most")


def _outcomes(first: int, count: int, words: int) -> list[dict[str, Any]]:
    records: list[dict[str, Any]] = pair_table(bench_pairs(count, words, seed=first), f"bench-{first}").to_pylist()
    for number, record in enumerate(records, first):
        record |= {"kind": "verdict", "source": "bench", "part": 0, "row": number, "country": "ID", "language": "en"}
        record |= {"status": "error" if number % 10 == 0 else "correct", "score": 0.9, "p_error": number % 997 / 997}
        record |= {"errors": [ERROR] if number % 10 == 0 else [], "report": '{"errors": []}', "sample_share": 1.0}
        record["logged_at"] = START + timedelta(seconds=number)
        record["content_hash"] = content_hash(record["instruction"], record["output"])
    return records


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=20_000)
    parser.add_argument("--words", type=int, default=90)
    parser.add_argument("--batch", type=int, default=5_000, help="pairs a commit")
    arguments = parser.parse_args()
    found = measure(arguments.pairs, arguments.words, arguments.batch)
    print(json.dumps({name: round(size, 1) for name, size in found.items()}))
    print(f"bytes a pair {sum(found.values()):.0f}")


if __name__ == "__main__":
    main()
