"""How fast the store is when it is large: a trend by country and week, and commits, at nothing and at ten million.

Run it from the repository: ``python -m bench.store`` (about two minutes and 3 GB of disk for ten million verdicts).
The bars: the trend within 300 ms on 2 cores, a commit no slower than 20,000 rows a second at any size.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import click
import pyarrow.parquet as pq

from bench.synthetic import fill
from excam.cli.output import print_json, print_table
from excam.judge_card import JudgeCard
from excam.outcome import outcome_table
from excam.pair import content_hash
from excam.store import Lease, LedgerUnit, Store
from excam.store.queries import Slice, trends, worst_pairs

BATCH = 10_000
CARD = JudgeCard(base="bench", base_sha256="0", prompt_sha256="0", decoding={})
NEW_YEAR = datetime(2026, 1, 1, tzinfo=UTC)


@click.command()
@click.option("--rows", default=10_000_000, show_default=True, type=click.IntRange(1), help="Verdicts to fill in.")
@click.option("--folder", type=click.Path(file_okay=False), help="Keep the store here; a filled one is used again.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(rows: int, folder: str | None, as_json: bool) -> None:
    """Measure the store at ROWS verdicts."""
    with tempfile.TemporaryDirectory() as scratch:
        url = f"ducklake:sqlite:{folder or scratch}/catalog.sqlite"
        with Store.open(url) as store:
            figures = measure(store, rows, Path(scratch))
    if as_json:
        print_json(figures)
        return
    print_table(["measure", "value"], [[name, f"{value:,.0f}"] for name, value in figures.items()], right=["value"])
    verdict = "within" if figures["trend by country and week, ms"] <= 300 else "OVER"
    click.echo(f"trend by country and week: {verdict} the bar of 300 ms")


def measure(store: Store, rows: int, scratch: Path) -> dict[str, float]:
    """All figures, in the order they were measured."""
    version = store.register_judge(CARD)
    figures: dict[str, float] = {}
    with store.lease("benchmark") as lease:
        run_id = store.start_run(lease, "bench", version, {})
        held = store.query(lambda connection: connection.execute("SELECT count(*) FROM lake.verdicts").fetchall()[0][0])
        if held < rows:
            figures |= _commits(store, lease, run_id, scratch, "in an empty store")
            with store._connection.cursor() as connection:
                figures["filling, s"] = _seconds(lambda: fill(connection, rows, version))
        figures |= _commits(store, lease, run_id, scratch, f"at {rows:,}")
        store.end_run(lease, run_id, "done", {})
    quarter = Slice(since=(NEW_YEAR - timedelta(days=92)).date())
    questions: dict[str, Callable[[], Any]] = {
        "trend by country and week, ms": lambda: store.query(trends, "country", "week"),
        "trend by type and month, ms": lambda: store.query(trends, "type", "month"),
        "trend of one quarter by day, ms": lambda: store.query(trends, "country", "day", quarter),
        "trend of one country, ms": lambda: store.query(trends, "country", "week", Slice(country="AB")),
        "worst of one country, ms": lambda: store.query(worst_pairs, version, Slice(country="AB")),
    }
    for name, ask in questions.items():
        ask()
        figures[name] = 1000 * statistics.median(_seconds(ask) for _ in range(5))
    figures["seen-before keys, ms"] = 1000 * _seconds(lambda: store.known_hashes(version))
    size = store.size()
    return figures | {"files": size.files, "MB": size.bytes / 1e6}


def _commits(store: Store, lease: Lease, run_id: str, scratch: Path, where: str) -> dict[str, float]:
    """Commit batches of new pairs, then one of known pairs again."""
    files = [_stage(scratch / f"{index}.parquet", f"{where}-{time.time_ns()}", index) for index in range(4)]

    def commit(file: str) -> float:
        unit = LedgerUnit(source="bench", part=time.time_ns(), rows_total=BATCH)
        return _seconds(lambda: store.commit(lease, run_id, CARD.judge_version, [file], [unit]))

    commit(files[0])
    new = statistics.median(commit(file) for file in files[1:])
    return {
        f"commit of {BATCH:,} new {where}, ms": 1000 * new,
        f"rows/s committed {where}": BATCH / new,
        f"commit of {BATCH:,} known {where}, ms": 1000 * commit(files[1]),
    }


def _stage(file: Path, salt: str, index: int) -> str:
    texts = [(f"question {salt} {index} {number}", f"answer {number} " * 20) for number in range(BATCH)]
    rows: list[dict[str, object]] = [
        {
            "kind": "verdict",
            "source": "bench",
            "part": index,
            "row": number,
            "pair_id": f"{salt}-{index}-{number}",
            "content_hash": content_hash(instruction, output),
            "instruction": instruction,
            "output": output,
            "logged_at": NEW_YEAR + timedelta(seconds=number),
            "country": "ID",
            "status": "correct" if number % 50 else "error",
            "score": 0.5,
            "errors": [] if number % 50 else [{"severity": "major", "type": "food", "span": "answer"}],
            "sample_share": 1.0,
        }
        for number, (instruction, output) in enumerate(texts)
    ]
    pq.write_table(outcome_table(rows), file)
    return str(file)


def _seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


if __name__ == "__main__":
    main()
