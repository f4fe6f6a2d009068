"""ExCAM: the whole pipeline, from a Parquet log to committed verdicts; warmed up with a log of its own."""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import pyarrow.parquet as pq

from bench.alternatives.server import BASE
from bench.pairs import bench_pairs, pair_table
from excam.store import Store
from pipelines.batch import ScoreOptions, score_logs
from serve.settings import JudgeSettings


def main(source: Path, out: Path) -> None:
    settings = JudgeSettings.load(None, base=BASE, adapter="none", threshold=1.0)
    pairs = [(instruction, output) for instruction, output in map(json.loads, source.open())]
    with tempfile.TemporaryDirectory() as folder:
        store = f"ducklake:sqlite:{folder}/store/catalog.sqlite"
        for name, some in (("warm", bench_pairs(32, seed=8)), ("measured", pairs)):
            pq.write_table(pair_table(some, name), f"{folder}/{name}.parquet")
            if name == "measured":
                print("judging")
            scored = score_logs([f"{folder}/{name}.parquet"], store, settings, ScoreOptions(gate=False))
        with Store.open(store, read_only=True) as opened:
            query = "SELECT count(DISTINCT pair_id) FROM lake.verdicts WHERE pair_id LIKE 'measured-%'"
            judged = int(opened.query(lambda connection: connection.execute(query).to_arrow_table())[0][0].as_py())
    failed = scored.tally.dead_letters
    out.write_text(json.dumps({"judged": judged, "failed": failed, "seconds": scored.seconds}))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
