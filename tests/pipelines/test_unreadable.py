"""A file that cannot be read is one dead letter, which is over when the file can be read."""

from __future__ import annotations

from pathlib import Path

from excam.store import Store
from pipelines.log_file import BrokenFile, LogFile, inspect
from pipelines.progress import Silence
from pipelines.session import Session
from pipelines.unreadable import bury, unearth
from serve.settings import JudgeSettings
from tests.conftest import LogWriter, pair_record
from tests.excam.store.outcomes import CARD, open_letters


def test_its_letter_is_settled_once_it_can_be_opened_whatever_is_sampled_of_it(
    store_url: str, judge_settings: JudgeSettings, write_log: LogWriter, tmp_path: Path
) -> None:
    paths = [tmp_path / name for name in ("mended.parquet", "broken.parquet")]
    for path in paths:
        path.write_bytes(b"cut short")
    with Store.open(store_url) as store, store.lease() as lease:
        run = Session(store, lease, CARD, "run", judge_settings, Silence())
        bury(run, [file for file in map(inspect, map(str, paths)) if isinstance(file, BrokenFile)])
        assert len(open_letters(store)) == 2
        write_log("mended.parquet", [pair_record(1)])
        unearth(run, [file for file in map(inspect, map(str, paths)) if isinstance(file, LogFile)])
        assert [letter["source"] for letter in open_letters(store)] == [str(paths[1])]
