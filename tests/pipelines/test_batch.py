"""From a Parquet log to verdicts in the store, with the real judge: every record has one outcome, whatever happens."""

from __future__ import annotations

import os
import signal
from collections import Counter
from pathlib import Path
from typing import Any

import psutil
import pytest

from excam.fault import UserError
from excam.pair import sample_position
from excam.store import Store
from excam.store.replays import request_replay
from pipelines.again import replay, rescore
from pipelines.batch import Scored, ScoreOptions, score_logs
from pipelines.progress import Planned, Silence, Tally
from serve.settings import JudgeSettings
from tests.conftest import LogWriter, pair_record

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("judge")]
NO_GATE = ScoreOptions(gate=False)


def verdicts(store_url: str) -> list[dict[str, Any]]:
    with Store.open(store_url, read_only=True) as store:
        rows: list[dict[str, Any]] = store.query(
            lambda connection: connection.execute("SELECT * FROM lake.verdicts ORDER BY pair_id").to_arrow_table()
        ).to_pylist()
        return rows


def dead_letters(store_url: str) -> list[dict[str, Any]]:
    with Store.open(store_url, read_only=True) as store:
        rows: list[dict[str, Any]] = store.export_dead_letters().to_pylist()
        return rows


def score(path: Path | str, store_url: str, settings: JudgeSettings, options: ScoreOptions = NO_GATE) -> Scored:
    return score_logs([str(path)], store_url, settings, options)


def test_every_pair_of_a_log_gets_a_verdict_of_this_judge(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    log = write_log("log.parquet", [pair_record(number) for number in range(20)])
    scored = score(log, store_url, judge_settings)
    found = verdicts(store_url)
    assert {row["pair_id"] for row in found} == {f"pair-{number}" for number in range(20)}
    assert {row["judge_version"] for row in found} == {scored.judge_version}
    assert {row["country"] for row in found} == {"ID", "JP", "MX", "NG", "DE"}
    assert all(row["status"] in ("correct", "not_applicable", "error") for row in found)
    assert all(0 <= row["p_error"] <= 1 for row in found)
    assert all(0 < row["score"] <= 1 for row in found if row["status"] == "correct")
    assert (scored.tally.rows, scored.tally.judged, scored.tally.dead_letters) == (20, 20, 0)


def test_the_same_command_again_changes_nothing_and_new_files_are_judged_alone(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    folder = write_log("logs/day1.parquet", [pair_record(number) for number in range(6)]).parent
    score(folder, store_url, judge_settings)
    before = verdicts(store_url)
    assert score(folder, store_url, judge_settings).tally == Tally()
    assert verdicts(store_url) == before
    write_log("logs/day2.parquet", [pair_record(number) for number in range(6, 9)])
    second = score(folder, store_url, judge_settings)
    assert (second.planned.files, second.planned.files_done, second.tally.judged) == (2, 1, 3)
    assert len(verdicts(store_url)) == 9


def test_a_text_judged_before_takes_its_stored_verdict(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    score(write_log("one.parquet", [pair_record(1), pair_record(1, pair_id="twin")]), store_url, judge_settings)
    scored = score(write_log("two.parquet", [pair_record(1, pair_id="later")]), store_url, judge_settings)
    assert (scored.tally.judged, scored.tally.reused) == (0, 1)
    found = {row["pair_id"]: row for row in verdicts(store_url)}
    assert found["later"]["reused"]
    assert len({(row["status"], row["p_error"], row["report"]) for row in found.values()}) == 1


def test_records_that_cannot_be_judged_are_dead_letters_that_say_why_and_keep_the_record(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings, tmp_path: Path
) -> None:
    log = write_log("logs/log.parquet", [pair_record(0), pair_record(1, output=None), pair_record(2)])
    (tmp_path / "logs" / "broken.parquet").write_bytes(log.read_bytes()[:-40])
    scored = score(tmp_path / "logs", store_url, judge_settings)
    assert {row["pair_id"] for row in verdicts(store_url)} == {"pair-0", "pair-2"}
    letters = {letter["reason"]: letter for letter in dead_letters(store_url)}
    assert set(letters) == {"bad_field", "unreadable_file"}
    assert letters["bad_field"]["detail"].endswith("log.parquet, row 1, output: is missing or null")
    assert '"pair-1"' in letters["bad_field"]["record"]
    assert "broken.parquet" in letters["unreadable_file"]["detail"]
    assert scored.tally.dead_letters == 2
    score(tmp_path / "logs", store_url, judge_settings)
    assert len(dead_letters(store_url)) == 2


def test_a_huge_output_is_cut_judged_and_marked(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    log = write_log("log.parquet", [pair_record(0, output="In Bali people rest. " * 100_000), pair_record(1)])
    score(log, store_url, judge_settings)
    assert [row["truncated"] for row in verdicts(store_url)] == [True, False]


def test_a_sample_is_the_same_every_run_and_its_share_is_stored(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    log = write_log("log.parquet", [pair_record(number) for number in range(60)])
    options = ScoreOptions(gate=False, share=0.2)
    scored = score(log, store_url, judge_settings, options)
    expected = {f"pair-{number}" for number in range(60) if sample_position(f"pair-{number}") < 0.2}
    found = verdicts(store_url)
    assert {row["pair_id"] for row in found} == expected
    assert {row["sample_share"] for row in found} == {0.2}
    assert scored.tally.skipped == 60 - len(expected)


def test_a_cap_lowers_the_share_of_countries_above_it_alone(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    many = [pair_record(5 * number) for number in range(40)]
    few = [pair_record(5 * number + 1) for number in range(4)]
    options = ScoreOptions(gate=False, cap_per_country=10)
    score(write_log("log.parquet", many + few), store_url, judge_settings, options)
    shares = {row["country"]: row["sample_share"] for row in verdicts(store_url)}
    counts = Counter(row["country"] for row in verdicts(store_url))
    assert shares == {"ID": 0.25, "JP": 1.0}
    assert counts["JP"] == 4
    assert counts["ID"] < 20


def test_a_second_run_says_who_holds_the_store(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    log = write_log("log.parquet", [pair_record(0)])
    with Store.open(store_url) as store, store.lease("nightly"), pytest.raises(UserError, match="nightly"):
        score(log, store_url, judge_settings)
    assert score(log, store_url, judge_settings).tally.judged == 1


@pytest.mark.parametrize(("moment", "pairs"), [("planned", 20), ("judging", 400)])
def test_a_stopped_run_keeps_what_is_committed_and_the_next_one_goes_on(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings, moment: str, pairs: int
) -> None:
    log = write_log("log.parquet", [pair_record(number) for number in range(pairs)], row_group_size=200)

    class CtrlC(Silence):
        pressed = False

        def planned(self, plan: Planned) -> None:
            self.press(moment == "planned")

        def judging(self, tally: Tally) -> None:
            self.press(tally.rows > 0)

        def press(self, now: bool) -> None:
            if now and not self.pressed:
                self.pressed = True
                os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        score_logs([str(log)], store_url, judge_settings, NO_GATE, CtrlC())
    first = {row["pair_id"] for row in verdicts(store_url)}
    assert len(first) < pairs
    second = score(log, store_url, judge_settings)
    assert second.tally.rows == pairs - len(first)
    counts = Counter(row["pair_id"] for row in verdicts(store_url))
    assert counts == {f"pair-{number}": 1 for number in range(pairs)}


@pytest.mark.parametrize("victim", ["engine", "replica"])
def test_a_killed_engine_or_replica_costs_time_and_nothing_else(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings, victim: str
) -> None:
    log = write_log("log.parquet", [pair_record(number) for number in range(256)])
    killed: list[int] = []

    class Killer(Silence):
        def judging(self, tally: Tally) -> None:
            if tally.rows and not killed:
                killed.append(_kill(victim))

    scored = score_logs([str(log)], store_url, judge_settings, NO_GATE, Killer())
    assert killed
    assert Counter(row["pair_id"] for row in verdicts(store_url)) == {f"pair-{number}": 1 for number in range(256)}
    assert scored.tally.dead_letters == 0


def _kill(victim: str) -> int:
    replicas = [process for process in psutil.process_iter(["cmdline"]) if _is_replica(process)]
    assert replicas, "no judge replica is running"
    process = replicas[0]
    if victim == "engine":
        process = max(process.children(recursive=True), key=lambda child: child.memory_info().rss)
    process.kill()
    return process.pid


def _is_replica(process: psutil.Process) -> bool:
    line = " ".join(process.info["cmdline"] or [])
    return line.startswith("ray::ServeReplica:excam-judge")


def test_rescoring_adds_a_series_and_leaves_the_old_one(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    score(write_log("log.parquet", [pair_record(number) for number in range(5)]), store_url, judge_settings)
    old = verdicts(store_url)
    new_judge = judge_settings.model_copy(update={"threshold": 0.999})
    scored = rescore(store_url, new_judge, NO_GATE)
    assert scored.tally.judged == 5
    found = verdicts(store_url)
    assert [row for row in found if row["judge_version"] != scored.judge_version] == old
    assert len(found) == 10
    assert rescore(store_url, new_judge, NO_GATE).tally == Tally()


def test_replayed_dead_letters_are_resolved_or_count_another_try(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    from excam.mapping import RecordMapping

    records = [
        pair_record(0, told=None),
        pair_record(1, output=None, told="Nasi goreng."),
        pair_record(2, output=None, told=None),
    ]
    score(write_log("log.parquet", records), store_url, judge_settings)
    assert len(dead_letters(store_url)) == 2
    mended = ScoreOptions(gate=False, mapping=RecordMapping(fields={"output": "told"}))
    replay(store_url, judge_settings, None, mended, requested=True)
    assert [letter["tries"] for letter in dead_letters(store_url)] == [1, 1]
    with Store.open(store_url) as store:
        assert store.query(request_replay, None, "Ana") == 2
    replay(store_url, judge_settings, None, mended, requested=True)
    assert {row["pair_id"] for row in verdicts(store_url)} == {"pair-0", "pair-1"}
    (left,) = dead_letters(store_url)
    assert left["tries"] == 2
