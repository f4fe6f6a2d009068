"""Alerts fire once and clear once, only on enough answers, and can be tried on the past."""

from __future__ import annotations

import json
import threading
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from excam.alerts.check import check, replay, standing
from excam.alerts.findings import Days, Finding, findings
from excam.alerts.rules import Rule, Rules
from excam.cli import cli
from excam.injection import METADATA_KEY
from excam.store import Store
from excam.store.schema import MIGRATIONS
from tests.excam.alerts.cases import DAY, rules
from tests.excam.store.outcomes import START, TUNED, dead_letter, put, verdict


def test_a_rate_above_its_level_fires_once_and_clears_once(store: Store) -> None:
    rule = rules(kind="rate_above", level=0.2, floor=50, country="ID")
    last = DAY + timedelta(days=34)
    fired = store.query(check, rule, last)
    assert [(event.event, event.subject) for event in fired] == [("fired", "all")]
    assert "50.0%" in fired[0].message
    assert "country=ID" in fired[0].link
    assert store.query(check, rule, last) == []
    assert len(store.query(standing)) == 1
    cleared = store.query(check, rule, DAY + timedelta(days=20))
    assert [event.event for event in cleared] == ["cleared"]
    assert store.query(check, rule, DAY + timedelta(days=20)) == []
    assert store.query(standing) == []


def test_two_answers_never_fire_however_wrong(store: Store) -> None:
    assert store.query(check, rules(kind="rate_above", level=0.1, floor=50, country="JP"), DAY) == []
    assert len(store.query(check, rules(kind="rate_above", level=0.1, floor=2, country="JP"), DAY)) == 1


def test_a_rise_must_be_more_than_chance(store: Store) -> None:
    rule = rules(kind="rate_risen", by="country", floor=50)
    assert store.query(check, rule, DAY + timedelta(days=27)) == []
    fired = store.query(check, rule, DAY + timedelta(days=34))
    assert [event.subject for event in fired] == ["ID"]
    assert "rose from 5.0% to 50.0%" in fired[0].message


def test_silence_and_dead_letters_are_told(store: Store) -> None:
    assert store.query(check, rules(kind="no_traffic", days=2), DAY + timedelta(days=34)) == []
    assert "no record" in store.query(check, rules(kind="no_traffic", days=2), DAY + timedelta(days=60))[0].message
    put(store, *(dead_letter(5000 + number) for number in range(20)))
    lost = Rules.model_validate({"rules": [{"name": "d", "kind": "dead_letter_share", "level": 0.5, "floor": 10}]})
    told = [event.message for event in store.query(check, lost) if event.event == "fired"]
    assert told == ["d: 100.0% of the records could not be judged (20 in 7 days; the level is 50.0%)"]


def test_a_lost_record_that_got_its_verdict_later_is_no_longer_lost(store_url: str) -> None:
    rule = rules(kind="dead_letter_share", level=0.05, floor=50)
    now = datetime.now(UTC)
    with Store.open(store_url) as store:
        put(store, *(verdict(n, judged_at=now) for n in range(100)), *(dead_letter(n) for n in range(100, 120)))
        assert "16.7%" in store.query(check, rule)[0].message
        put(store, *(verdict(n, judged_at=now) for n in range(100, 119)))
        (cleared,) = store.query(check, rule)
        assert cleared.event == "cleared"
        (fired,) = store.query(check, rules(kind="dead_letter_share", level=0.001, floor=50))
        assert "0.8% of the records could not be judged (120 in 7 days" in fired.message


def test_a_day_that_has_only_begun_is_no_day_without_traffic(store: Store) -> None:
    rule = rules(kind="no_traffic", days=1)
    last = DAY + timedelta(days=34)
    assert store.query(check, rule, last + timedelta(days=1)) == []
    (fired,) = store.query(check, rule, last + timedelta(days=2))
    assert fired.message == "r: no record in 1 day"


def test_the_past_tells_of_the_same_silences_as_a_check_on_each_day(store: Store) -> None:
    rule = rules(kind="no_traffic", days=2)
    put(store, verdict(5000, logged_at=START + timedelta(days=40)))
    (told,) = store.query(replay, rule, DAY + timedelta(days=60))
    assert [day for day, _ in told.days] == [DAY + timedelta(days=37), DAY + timedelta(days=43)]
    for days, silent in ((36, False), (37, True), (40, False), (42, False), (43, True)):
        store.query(check, rule, DAY + timedelta(days=days))
        assert bool(store.query(standing)) is silent, days


def test_traffic_that_another_judge_judged_is_no_silence(store_url: str) -> None:
    today = START.date()
    with Store.open(store_url) as store:
        put(store, verdict(1))
        put(store, verdict(2, logged_at=START - timedelta(days=60)), judge=TUNED)
        assert store.query(check, rules(kind="no_traffic", days=2), today) == []
        assert store.query(replay, rules(kind="no_traffic", days=2), today)[0].fired == 1
        asked = rules(kind="no_traffic", days=2, judge=TUNED.judge_version)
        assert [event.event for event in store.query(check, asked, today)] == ["fired"]


def test_many_pairs_that_speak_to_the_judge_are_told_by_the_app_they_come_from(store: Store) -> None:
    marked = json.dumps({"note": '"speaks_to_judge"', METADATA_KEY: ["order"]})
    quoted = json.dumps({"note": 'he said "speaks_to_judge": 1'})
    at = START + timedelta(days=34)
    rows = [verdict(2000 + n, app="forum", logged_at=at, metadata=marked if n < 3 else quoted) for n in range(10)]
    put(store, *rows)
    rule = rules(kind="speaks_to_judge_share", by="app", level=0.2, floor=10, days=1)
    (fired,) = store.query(check, rule, DAY + timedelta(days=34))
    assert fired.message == "r (forum): 30.0% of the pairs speak to the judge (10 in 1 day; the level is 20.0%)"
    assert "app=forum" in fired.link


def test_the_past_tells_how_often_a_rule_would_have_fired(store: Store) -> None:
    told = store.query(replay, rules(kind="rate_above", level=0.3, days=7, floor=50))
    assert told[0].fired == 1
    assert told[0].days[0][0] > DAY + timedelta(days=28)
    assert store.query(standing) == []


def test_one_record_of_long_ago_does_not_make_the_past_endless(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = []

    def counted(rule: Rule, known: dict[str, Days], until: date) -> list[Finding]:
        looked_at.append(until)
        return findings(rule, known, until)

    monkeypatch.setattr("excam.alerts.check.findings", counted)
    put(store, verdict(5000, logged_at=datetime(2000, 1, 1, tzinfo=UTC)))
    (told,) = store.query(replay, rules(kind="rate_above", level=0.3, days=7, floor=50, by="country"))
    (silent,) = store.query(replay, rules(kind="no_traffic", days=2))
    assert (told.fired, told.days[0][0] > DAY + timedelta(days=28)) == (1, True)
    assert [day for day, _ in silent.days] == [date(2000, 1, 4), DAY + timedelta(days=37)]
    assert len(looked_at) < 300


def test_two_checks_at_the_same_time_fire_once(store: Store, store_url: str) -> None:
    rule = rules(kind="rate_above", level=0.2, floor=50)
    events: list[Any] = []

    def run() -> None:
        with Store.open(store_url) as other:
            events.extend(other.query(check, rule, DAY + timedelta(days=34)))

    threads = [threading.Thread(target=run) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(events) == 1


def test_the_commands_check_and_try_rules(store: Store, store_url: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(
        "rules:\n- {name: quiet, kind: no_traffic, days: 3}\n- {name: high, kind: rate_above, level: 0.3}\n"
    )
    asked = ["--rules", str(file), "--store", store_url]
    first = CliRunner().invoke(cli, ["alerts", "check", *asked])
    assert "fired: quiet: no record in 3 days" in first.output
    assert "fired" not in CliRunner().invoke(cli, ["alerts", "check", *asked]).output
    assert "high: would have fired never" in CliRunner().invoke(cli, ["alerts", "test", *asked]).output


def test_a_store_that_is_new_or_old_or_not_there_yet_is_quiet_and_no_failure(store_url: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("rules:\n- {name: quiet, kind: no_traffic}\n- {name: high, kind: rate_above, level: 0.1}\n")
    asked = ["alerts", "check", "--rules", str(file), "--store", store_url]
    nowhere = CliRunner().invoke(cli, asked)
    assert (nowhere.exit_code, nowhere.stdout) == (0, "")
    assert "no store" in nowhere.stderr
    assert CliRunner().invoke(cli, [*asked, "--json"]).stdout.strip() == "[]"
    assert not (tmp_path / "store").exists(), "a check makes no store"
    Store.open(store_url, migrations=MIGRATIONS[:-1]).close()  # as the version before made it
    new = CliRunner().invoke(cli, asked)
    assert (new.exit_code, new.stdout) == (0, "0 alerts stand\n")
    with Store.open(store_url) as store:
        put(store, dead_letter(1))
    assert "fired: quiet" in CliRunner().invoke(cli, asked).stdout
