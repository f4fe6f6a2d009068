"""What a run says of itself when there was nothing for the judge to do, and why that was."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from excam.cli.score import summary
from excam.fault import UserError
from excam.mapping import RecordMapping
from excam.outcome import outcome_table
from excam.store import LedgerUnit, Store
from pipelines.again import replay, rescore
from pipelines.batch import Scored, ScoreOptions, plan_sections, score_logs
from pipelines.log_file import LogFile, inspect
from pipelines.progress import Planned, Silence, Tally
from pipelines.read import read_units
from pipelines.screen_unit import screen_unit
from pipelines.session import session
from pipelines.stages import tally_of
from serve.settings import JudgeSettings
from tests.conftest import LogWriter, pair_record


def read_in_vain(log: Path, store_url: str, settings: JudgeSettings) -> Scored:
    """A run as it goes where no record comes as far as the judge, which therefore need not be started."""
    with session(store_url, settings, "score", {}, 0.0, Silence()) as run:
        version, file = run.card.judge_version, inspect(str(log))
        assert isinstance(file, LogFile)
        for section in plan_sections(run.store, version, [file], ScoreOptions()):
            for unit in read_units(section):
                rows, skipped = screen_unit(unit, section, RecordMapping(), gate=False)
                done = LedgerUnit(source=file.uri, part=unit.part, fingerprint=section.fingerprint, state="done")
                run.store.commit(run.lease, run.run_id, version, [outcome_table(rows)], [done])
                run.tally += tally_of(rows, skipped, retries=0)
        return Scored.of(run, Planned(files=1, files_done=0, broken=(), rows=run.tally.rows))


def test_rows_that_all_lack_one_field_are_told_of_with_what_mends_them(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    log = write_log("log.parquet", [{"user_text": f"Who? {number}", "answer_text": "She."} for number in range(200)])
    scored = read_in_vain(log, store_url, judge_settings)
    assert scored.open_records == 200
    first, *others = summary(scored).splitlines()
    assert first.startswith("NO ROW IS A PAIR. All 200 rows lack the same field: instruction: is missing or null")
    assert "'user_text', 'answer_text'" in first
    mend = "200 records have no verdict. When the cause is mended: excam dead-letters replay --mapping FILE"
    assert mend in others

    again = score_logs([str(log)], store_url, judge_settings)
    assert (again.tally, again.open_records, again.missing) == (Tally(), 200, None)
    first, second, *_ = summary(again).splitlines()
    assert first == f"Nothing new: the 1 file holds no row that {again.judge_version} has not read already."
    assert second.startswith("200 records have no verdict.")


@pytest.mark.parametrize("other", [{"instruction": "Who?"}, {"instruction": "Who?", "output": "She.", "ts": "soon"}])
def test_rows_that_lack_this_and_that_have_no_one_cause(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings, other: dict[str, str]
) -> None:
    empty = {"instruction": None, "output": None, "ts": None}
    scored = read_in_vain(write_log("log.parquet", [empty, empty | other]), store_url, judge_settings)
    assert (scored.open_records, scored.missing) == (2, None)
    assert summary(scored).startswith("2 rows: 0 judged")


def test_a_file_without_rows_and_a_store_without_pairs_leave_nothing_to_judge(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    log = write_log("log.parquet", [pair_record(0)])
    pq.write_table(pq.read_table(log).slice(0, 0), log)
    assert "Nothing new: the 1 file holds no row" in summary(score_logs([str(log)], store_url, judge_settings))
    for run in (rescore, replay):
        assert summary(run(store_url, judge_settings)).startswith("Nothing to judge again by ")


@pytest.mark.parametrize("names", [["a.parquet"], ["a.parquet", "b.parquet"]])
def test_a_run_all_of_whose_files_are_broken_is_a_mistake(
    tmp_path: Path, store_url: str, judge_settings: JudgeSettings, names: list[str]
) -> None:
    for name in names:
        (tmp_path / name).write_bytes(b"")
    with pytest.raises(UserError, match=r"a\.parquet: .*0 bytes") as refused:
        score_logs([str(tmp_path)], store_url, judge_settings)
    assert refused.value.fix
    with Store.open(store_url, read_only=True) as store:
        assert store.query(lambda asked: asked.execute("SELECT state FROM lake.runs").fetchall()) == [("failed",)]
        assert store.dead_letters().num_rows == 0
