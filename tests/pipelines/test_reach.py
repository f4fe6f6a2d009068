"""A log that is out of reach is waited for, and where that does not help the next run takes it: no row is given up."""

from __future__ import annotations

import shutil
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fsspec
import pytest
from fsspec.implementations.local import LocalFileSystem

from excam.fault import UserError
from excam.store import Store
from pipelines import batch, reach, session
from pipelines.batch import ScoreOptions, score_logs
from pipelines.log_file import LogFile, inspect
from pipelines.plan import RunPlan
from pipelines.progress import Planned, Silence
from pipelines.reach import OutOfReachError, Patience
from pipelines.read import Unit, read_units
from pipelines.units import Sampling, Section, sections_of
from serve.settings import JudgeSettings
from tests.conftest import LogWriter, pair_record

ROWS = 40
FOREVER = 10**9


class Unsteady(LocalFileSystem):  # type: ignore[misc]
    """Files behind a connection that is broken for the reads of these numbers."""

    protocol = "unsteady"
    reads = 0
    broken = range(0)

    def _open(self, path: str, mode: str = "rb", **options: Any) -> Any:
        file = super()._open(path, mode, **options)

        def read(size: int) -> bytes:
            Unsteady.reads += 1
            if Unsteady.reads in Unsteady.broken:
                raise ConnectionResetError(104, "Connection reset by peer")
            content: bytes = file.read(size)
            return content

        return SimpleNamespace(read=read, seek=file.seek, tell=file.tell, close=file.close, closed=False)


@pytest.fixture
def sections(write_log: LogWriter, monkeypatch: pytest.MonkeyPatch) -> list[Section]:
    """A log of two row groups behind that connection; it is read anew with every test."""
    fsspec.register_implementation("unsteady", Unsteady, clobber=True)
    monkeypatch.setattr(reach, "FIRST_PAUSE", 0.01)
    monkeypatch.setattr(Unsteady, "broken", range(0))
    path = write_log("log.parquet", [pair_record(number) for number in range(ROWS)], row_group_size=ROWS // 2)
    file = inspect(f"unsteady://{path}")
    assert isinstance(file, LogFile)
    Unsteady.reads = 0
    return list(sections_of(file, "f", 8, set(), Sampling()))


def pairs_of(units: list[Unit]) -> list[str]:
    assert not [unit.broken for unit in units if unit.broken]
    return [record["pair_id"] for unit in units for record in unit.records]


def test_a_connection_that_breaks_anywhere_costs_no_row_and_gives_none_twice(sections: list[Section]) -> None:
    every = [f"pair-{number}" for number in range(ROWS)]
    assert pairs_of([unit for section in sections for unit in read_units(section)]) == every
    reads = Unsteady.reads
    assert reads > 10
    for first in range(1, reads + 1):
        Unsteady.reads, Unsteady.broken = 0, range(first, first + 3)
        assert pairs_of([unit for section in sections for unit in read_units(section)]) == every


def test_a_connection_that_stays_broken_is_no_broken_file_and_the_error_says_what_to_do(
    sections: list[Section],
) -> None:
    Unsteady.broken = range(1, FOREVER)
    with pytest.raises(OutOfReachError, match=r"log\.parquet is out of reach: ConnectionResetError: .*reset") as told:
        list(read_units(sections[0], Patience(0.05)))
    assert "not marked as done" in told.value.fix


def test_files_that_follow_one_that_was_waited_for_in_vain_are_tried_once(sections: list[Section]) -> None:
    Unsteady.broken = range(1, FOREVER)
    patience = Patience(0.05)
    tries = []
    for section in sections:
        Unsteady.reads = 0
        with pytest.raises(OutOfReachError):
            list(read_units(section, patience))
        tries.append(Unsteady.reads)
    assert tries[0] > tries[1] == 1
    Unsteady.reads, Unsteady.broken = 0, range(0)
    assert len(pairs_of(list(read_units(sections[0], patience)))) == ROWS // 2
    Unsteady.reads, Unsteady.broken = 0, range(1, 3)
    assert len(pairs_of(list(read_units(sections[1], patience)))) == ROWS // 2, "what could be read renews the patience"


def test_a_log_that_comes_back_is_read(write_log: LogWriter) -> None:
    path = write_log("log.parquet", [pair_record(number) for number in range(ROWS)])
    file = inspect(str(path))
    assert isinstance(file, LogFile)
    away = path.rename(path.with_suffix(".away"))
    threading.Timer(0.1, away.rename, [path]).start()
    (section,) = sections_of(file, "f", ROWS, set(), Sampling())
    assert len(pairs_of(list(read_units(section)))) == ROWS


def test_where_many_files_in_a_row_are_gone_the_others_are_not_even_tried(
    sections: list[Section], tmp_path: Path
) -> None:
    Unsteady.broken = range(1, FOREVER)
    patience = Patience(0.0)
    for number in range(2 * reach.MOST_AWAY):
        copy = shutil.copy(tmp_path / "log.parquet", tmp_path / f"{number}.parquet")
        with pytest.raises(OutOfReachError, match=rf"/{number}\.parquet is out of reach"):
            list(read_units(replace(sections[0], uri=f"unsteady://{copy}"), patience))
    assert Unsteady.reads == reach.MOST_AWAY


def test_of_many_files_the_first_is_told_with_its_reason() -> None:
    told = reach.out_of_reach({"a": "a is out of reach: gone", "b": "b is out of reach, as a is"})
    assert told.message == "a is out of reach: gone (the first of 2 files)"


@pytest.mark.usefixtures("sections")
def test_a_log_that_cannot_be_looked_at_is_no_broken_one(tmp_path: Path) -> None:
    log = f"unsteady://{tmp_path}/log.parquet"
    whole = inspect(log)
    for first in range(1, Unsteady.reads + 1):
        Unsteady.reads, Unsteady.broken = 0, range(first, first + 2)
        assert inspect(log) == whole
    Unsteady.reads, Unsteady.broken = 0, range(1, FOREVER)
    with pytest.raises(OutOfReachError, match=r"log\.parquet is out of reach: ConnectionResetError"):
        inspect(log, Patience(0.05))


@pytest.mark.engine
@pytest.mark.usefixtures("judge", "sections")
def test_one_log_out_of_reach_fails_the_run_after_the_others_are_judged_and_the_next_run_judges_it(
    judge_settings: JudgeSettings, write_log: LogWriter, store_url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    logs = [
        write_log(f"logs/{name}.parquet", [pair_record(3 * number + place) for number in range(3)])
        for place, name in enumerate("abc")
    ]
    monkeypatch.setattr(session, "RunPlan", partial(RunPlan, patience=0.2))
    monkeypatch.setattr(batch, "Patience", partial(Patience, 0.2))

    class Unplugged(Silence):
        def planned(self, plan: Planned) -> None:
            logs[1].rename(tmp_path / "away")

    def stored(query: str) -> list[Any]:
        with Store.open(store_url, read_only=True) as store:
            return [row for (row,) in store.query(lambda connection: connection.execute(query).fetchall())]

    options = ScoreOptions(gate=False)
    with pytest.raises(UserError, match=r"b\.parquet is out of reach: FileNotFoundError"):
        score_logs([str(tmp_path / "logs")], store_url, judge_settings, options, Unplugged())
    judged = "SELECT pair_id FROM lake.verdicts ORDER BY pair_id"
    assert stored(judged) == [f"pair-{number}" for number in range(9) if number % 3 != 1]
    assert stored("SELECT reason FROM lake.dead_letters") == []
    (tmp_path / "away").rename(logs[1])
    assert score_logs([str(tmp_path / "logs")], store_url, judge_settings, options).tally.rows == 3
    assert stored(judged) == [f"pair-{number}" for number in range(9)]
    new = write_log("logs/d.parquet", [pair_record(9)])
    monkeypatch.setattr(Unsteady, "broken", range(1, FOREVER))
    with pytest.raises(UserError, match=r"log\.parquet is out of reach: ConnectionResetError"):
        score_logs([f"unsteady://{tmp_path}/log.parquet", str(new)], store_url, judge_settings, options)
    assert stored(judged) == [f"pair-{number}" for number in range(10)]
    assert stored("SELECT reason FROM lake.dead_letters") == []
    assert stored("SELECT state FROM lake.runs ORDER BY started_at") == ["failed", "done", "failed"]
