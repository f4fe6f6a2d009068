"""A log too long for one execution of Ray Data is judged in several, with the real judge."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from typing import Any

import pytest

from excam.store import Store
from pipelines import run
from pipelines.batch import ScoreOptions, score_logs
from pipelines.plan import RunPlan
from pipelines.units import Section
from serve.settings import JudgeSettings
from tests.conftest import LogWriter, pair_record

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("judge")]


def remembered() -> int:
    """Objects that Ray Data keeps of every block until its execution is forgotten."""
    return sum(type(thing).__name__ == "BlockStats" for thing in gc.get_objects())


def test_each_pair_is_judged_once_and_nothing_stays_in_memory_of_executions_that_ended(
    judge_settings: JudgeSettings, write_log: LogWriter, store_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    gc.collect()
    before = remembered()
    sizes: list[int] = []
    execute = run._judged_units

    def counted(plan: RunPlan, sections: Sequence[Section]) -> Iterator[dict[str, Any]]:
        sizes.append(len(sections))
        return execute(plan, sections)

    monkeypatch.setattr(run, "_judged_units", counted)
    monkeypatch.setattr(run, "WAVE_UNITS", 2)
    log = write_log("log.parquet", [pair_record(number) for number in range(6)], row_group_size=2)
    scored = score_logs([str(log)], store_url, judge_settings, ScoreOptions(gate=False))
    assert sizes == [2, 1]
    assert scored.tally.judged == 6
    with Store.open(store_url, read_only=True) as store:
        judged = store.query(lambda connection: connection.execute("SELECT pair_id FROM lake.verdicts").fetchall())
    assert len(judged) == len(set(judged)) == 6
    assert remembered() <= before
