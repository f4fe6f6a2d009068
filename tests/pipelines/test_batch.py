"""From a Parquet log to verdicts in the store, with the real judge: every record has one outcome, whatever happens."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from excam.alerts.check import standing
from excam.fault import UserError
from excam.mapping import RecordMapping
from excam.pair import sample_position
from excam.store import Store
from excam.store.replays import request_replay
from pipelines.again import replay, rescore
from pipelines.batch import Scored, ScoreOptions, score_logs
from pipelines.progress import Tally
from serve.settings import JudgeSettings
from tests.conftest import LogWriter, pair_record
from tests.excam.alerts.cases import webhook
from tests.excam.store.outcomes import open_letters

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
        return open_letters(store)


def score(path: Path | str, store_url: str, settings: JudgeSettings, options: ScoreOptions = NO_GATE) -> Scored:
    return score_logs([str(path)], store_url, settings, options)


@dataclass(frozen=True)
class Judged:
    """A folder of logs, the store they were judged into, and what the run said of itself."""

    logs: Path
    store_url: str
    scored: Scored
    told: tuple[str, ...] = ()

    def copied_to(self, folder: Path) -> str:
        """The URL of a copy of the store, for a test that goes on from here."""
        shutil.copytree(Path(self.store_url.removeprefix("ducklake:sqlite:")).parent, folder / "copy")
        return f"ducklake:sqlite:{folder}/copy/catalog.sqlite"


@contextmanager
def alerting(folder: Path) -> Iterator[list[Any]]:
    """Runs check a rule that too many dead letters break; what they tell a webhook."""
    rules = folder / "rules.yaml"
    rules.write_text("rules:\n- {name: records fail, kind: dead_letter_share, level: 0.1, floor: 10}\n")
    received: list[Any] = []
    with webhook(received) as address, pytest.MonkeyPatch.context() as patch:
        patch.setenv("EXCAM_ALERT_RULES", str(rules))
        patch.setenv("EXCAM_ALERT_WEBHOOK", address)
        yield received


@pytest.fixture(scope="module")
def first_day(judge: Any, judge_settings: JudgeSettings, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """A log with a bit of everything, and one that is cut short, judged once for all who ask what came of them."""
    logs = tmp_path_factory.mktemp("logs")
    records = [
        *(pair_record(number) for number in range(20)),
        pair_record(1, pair_id="twin"),
        pair_record(20, output=None, told="Nasi goreng."),
        pair_record(21, output=None),
        pair_record(22, output="In Bali people rest. " * 100_000),
    ]
    pq.write_table(pa.Table.from_pylist([{"told": None} | record for record in records]), logs / "log.parquet")
    (logs / "broken.parquet").write_bytes((logs / "log.parquet").read_bytes()[:-40])
    store_url = f"ducklake:sqlite:{tmp_path_factory.mktemp('first')}/catalog.sqlite"
    with alerting(tmp_path_factory.mktemp("rules")) as told:
        scored = score(logs, store_url, judge_settings)
    return Judged(logs, store_url, scored, tuple(body["text"] for body in told))


@pytest.fixture(scope="module")
def second_day(first_day: Judged, judge_settings: JudgeSettings, tmp_path_factory: pytest.TempPathFactory) -> Judged:
    """The same folder, and one with a log beside the store: three new texts, and one that is known by another id."""
    logs = tmp_path_factory.mktemp("second")
    store_url = first_day.copied_to(logs)
    records = [*(pair_record(number) for number in range(50, 53)), pair_record(1, pair_id="later")]
    pq.write_table(pa.Table.from_pylist(records), logs / "second.parquet")
    places = [str(first_day.logs), str(logs)]
    return Judged(logs, store_url, score_logs(places, store_url, judge_settings, NO_GATE))


def test_every_pair_of_a_log_gets_a_verdict_of_this_judge(first_day: Judged) -> None:
    found = verdicts(first_day.store_url)
    assert {row["pair_id"] for row in found} == {*(f"pair-{number}" for number in range(20)), "twin", "pair-22"}
    assert {row["judge_version"] for row in found} == {first_day.scored.judge_version}
    assert {row["country"] for row in found} == {"ID", "JP", "MX", "NG", "DE"}
    assert all(row["status"] in ("correct", "not_applicable", "error") for row in found)
    assert all(0 <= row["p_error"] <= 1 for row in found)
    assert all(0 < row["score"] <= 1 for row in found if row["status"] == "correct")
    tally = first_day.scored.tally
    assert (tally.rows, tally.judged, tally.reused, tally.dead_letters) == (24, 21, 1, 3)
    assert (first_day.scored.open_records, first_day.scored.missing) == (2, None)


def test_the_same_command_again_changes_nothing_and_new_files_are_judged_alone(
    first_day: Judged, second_day: Judged, judge_settings: JudgeSettings, tmp_path: Path
) -> None:
    before, letters = verdicts(first_day.store_url), dead_letters(first_day.store_url)
    with alerting(tmp_path) as told:
        again = score(first_day.logs, first_day.store_url, judge_settings)
    assert told == [], "the alert was told of already"
    assert again.tally == Tally(dead_letters=1), "the file that cannot be read is told of again"
    assert verdicts(first_day.store_url) == before
    assert dead_letters(first_day.store_url) == letters
    planned, tally = second_day.scored.planned, second_day.scored.tally
    assert (planned.files, planned.files_done, tally.rows, tally.judged) == (3, 1, 4, 3)
    found = verdicts(second_day.store_url)
    assert [row for row in found if row["run_id"] == first_day.scored.run_id] == before
    assert len(found) == len(before) + 4


def test_a_run_tells_the_webhook_once_of_an_alert_that_its_records_set_off(first_day: Judged) -> None:
    told = "records fail: 12.0% of the records could not be judged (25 in 7 days; the level is 10.0%)"
    assert first_day.told == (f"🔴 {told}",)
    with Store.open(first_day.store_url, read_only=True) as store:
        assert [alert.rule for alert in store.query(standing)] == ["records fail"]


def test_a_text_judged_before_takes_its_stored_verdict(second_day: Judged) -> None:
    assert second_day.scored.tally.reused == 1
    found = {row["pair_id"]: row for row in verdicts(second_day.store_url)}
    same = [found[pair] for pair in ("pair-1", "twin", "later")]
    assert found["later"]["reused"]
    assert len({(row["status"], row["p_error"], row["report"]) for row in same}) == 1


def test_records_that_cannot_be_judged_are_dead_letters_that_say_why_and_keep_the_record(first_day: Judged) -> None:
    letters = {(letter["reason"], letter["row"]): letter for letter in dead_letters(first_day.store_url)}
    assert set(letters) == {("bad_field", 21), ("bad_field", 22), ("unreadable_file", 0)}
    assert "log.parquet, row 21, output: is missing or null; the record has" in letters["bad_field", 21]["detail"]
    assert '"pair-20"' in letters["bad_field", 21]["record"]
    assert "broken.parquet" in letters["unreadable_file", 0]["detail"]


def test_a_huge_output_is_cut_judged_and_marked(first_day: Judged) -> None:
    assert {row["pair_id"] for row in verdicts(first_day.store_url) if row["truncated"]} == {"pair-22"}


def test_a_sample_is_the_same_every_run_its_share_is_stored_and_a_cap_lowers_it_for_countries_above_alone(
    write_log: LogWriter, store_url: str, judge_settings: JudgeSettings
) -> None:
    shares = {"ID": 0.25, "JP": 0.5}  # a cap of ten for forty pairs and for fewer than ten
    pairs = {f"pair-{5 * number}": "ID" for number in range(40)} | {
        f"pair-{5 * number + 1}": "JP" for number in range(8)
    }
    log = write_log("log.parquet", [pair_record(int(pair.removeprefix("pair-"))) for pair in pairs])
    scored = score(log, store_url, judge_settings, ScoreOptions(gate=False, share=0.5, cap_per_country=10))
    found = {row["pair_id"]: (row["country"], row["sample_share"]) for row in verdicts(store_url)}
    assert found == {
        pair: (country, shares[country]) for pair, country in pairs.items() if sample_position(pair) < shares[country]
    }
    assert {country for country, _ in found.values()} == {"ID", "JP"}
    assert scored.tally.skipped == len(pairs) - len(found)


def test_a_second_run_says_who_holds_the_store(
    first_day: Judged, judge_settings: JudgeSettings, tmp_path: Path
) -> None:
    store_url = first_day.copied_to(tmp_path)
    with Store.open(store_url) as store, store.lease("nightly"), pytest.raises(UserError, match="nightly"):
        score(first_day.logs, store_url, judge_settings)
    assert score(first_day.logs, store_url, judge_settings).planned.files == 2


def test_rescoring_adds_a_series_and_leaves_the_old_one(
    second_day: Judged, next_judge: JudgeSettings, tmp_path: Path
) -> None:
    store_url = second_day.copied_to(tmp_path)
    old = verdicts(store_url)
    scored = rescore(store_url, next_judge, NO_GATE)
    assert (scored.tally.judged, scored.tally.reused) == (24, 2)
    found = verdicts(store_url)
    assert [row for row in found if row["judge_version"] != scored.judge_version] == old
    assert len(found) == 2 * len(old)
    assert rescore(store_url, next_judge, NO_GATE).tally == Tally()


def test_replayed_dead_letters_are_resolved_or_count_another_try(
    first_day: Judged, judge_settings: JudgeSettings, tmp_path: Path
) -> None:
    store_url = first_day.copied_to(tmp_path)

    def tries() -> dict[tuple[str, int], int]:
        return {(letter["reason"], letter["row"]): letter["tries"] for letter in dead_letters(store_url)}

    mended = ScoreOptions(gate=False, mapping=RecordMapping(fields={"output": "told"}))
    replay(store_url, judge_settings, None, mended, requested=True)
    assert tries() == {("bad_field", 21): 1, ("bad_field", 22): 1, ("unreadable_file", 0): 1}
    with Store.open(store_url) as store:
        assert store.query(request_replay, None, "Ana") == 2, "a file that cannot be read has no record to try"
    replay(store_url, judge_settings, None, mended, requested=True)
    assert "pair-20" in {row["pair_id"] for row in verdicts(store_url)}
    assert tries() == {("bad_field", 22): 2, ("unreadable_file", 0): 1}
