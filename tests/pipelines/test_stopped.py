"""Runs that are told to stop, and judges that die under a run: what is committed stays, and nothing is judged twice."""

from __future__ import annotations

import os
import signal
from collections import Counter

import psutil
import pytest

from excam.store import Store
from pipelines.batch import ScoreOptions, score_logs
from pipelines.progress import Planned, Silence, Tally
from serve.settings import JudgeSettings
from tests.conftest import LogWriter, pair_record
from tests.pipelines.stream.conftest import rows_of

pytestmark = [pytest.mark.engine, pytest.mark.usefixtures("judge")]
NO_GATE = ScoreOptions(gate=False)


@pytest.mark.parametrize(
    ("moment", "pairs", "number"), [("planned", 20, signal.SIGINT), ("judging", 48, signal.SIGTERM)]
)
def test_a_stopped_run_keeps_what_is_committed_and_the_next_one_goes_on_at_once(
    write_log: LogWriter,
    store_url: str,
    judge_settings: JudgeSettings,
    moment: str,
    pairs: int,
    number: signal.Signals,
) -> None:
    log = write_log("log.parquet", [pair_record(number) for number in range(pairs)], row_group_size=16)

    class Stopper(Silence):
        stopped = False

        def planned(self, plan: Planned) -> None:
            self.stop(moment == "planned")

        def judging(self, tally: Tally) -> None:
            self.stop(tally.rows > 0)

        def stop(self, now: bool) -> None:
            if now and not self.stopped:
                self.stopped = True
                os.kill(os.getpid(), number)

    with pytest.raises(KeyboardInterrupt):
        score_logs([str(log)], store_url, judge_settings, NO_GATE, Stopper())
    first = {row["pair_id"] for row in rows_of(store_url, "verdicts")}
    assert len(first) < pairs
    # This one waits for no lease: the first one gave it back.
    second = score_logs([str(log)], store_url, judge_settings, NO_GATE)
    assert second.tally.rows == pairs - len(first)
    with Store.open(store_url, read_only=True) as store:
        states = store.query(lambda asked: asked.execute("SELECT state FROM lake.runs ORDER BY started_at").fetchall())
    assert states == [("stopped",), ("done",)]
    counts = Counter(row["pair_id"] for row in rows_of(store_url, "verdicts"))
    assert counts == {f"pair-{number}": 1 for number in range(pairs)}


@pytest.mark.parametrize("victim", ["engine", pytest.param("replica", marks=pytest.mark.faults)])
def test_a_killed_engine_or_replica_costs_time_and_nothing_else(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings, victim: str
) -> None:
    log = write_log("log.parquet", [pair_record(number) for number in range(96)], row_group_size=16)
    killed: list[int] = []

    class Killer(Silence):
        def judging(self, tally: Tally) -> None:
            if tally.rows and not killed:
                killed.append(_kill(victim))

    scored = score_logs([str(log)], store_url, judge_settings, NO_GATE, Killer())
    assert killed
    assert scored.tally.retries, "it died while pairs were with it"
    assert Counter(row["pair_id"] for row in rows_of(store_url, "verdicts")) == {
        f"pair-{number}": 1 for number in range(96)
    }
    assert scored.tally.dead_letters == 0


def _kill(victim: str) -> int:
    ours = {process.pid for process in psutil.Process().children(recursive=True)}
    replicas = [one for one in psutil.process_iter(["cmdline"]) if one.pid in ours and _is_replica(one)]
    assert replicas, "no judge replica is running"
    process = replicas[0]
    if victim == "engine":
        process = max(process.children(recursive=True), key=lambda child: child.memory_info().rss)
    process.kill()
    return process.pid


def _is_replica(process: psutil.Process) -> bool:
    return " ".join(process.info["cmdline"] or []).startswith("ray::ServeReplica:excam-judge")
