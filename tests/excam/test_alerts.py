"""Alerts fire once and clear once, only on enough answers, and can be tried on the past."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from excam.alerts.beside import alerts_beside
from excam.alerts.check import check, replay, standing
from excam.alerts.deliver import deliver
from excam.alerts.rules import Rules
from excam.cli import cli
from excam.fault import UserError
from excam.injection import METADATA_KEY
from excam.store import Store
from tests.excam.store.outcomes import START, TUNED, dead_letter, error, put, verdict

DAY = START.date()


def rules(**rule: Any) -> Rules:
    return Rules.model_validate({"rules": [{"name": "r", **rule}]})


@pytest.fixture
def store(store_url: str) -> Iterator[Store]:
    """Indonesia: 5 % wrong for 28 days, then 50 % for 7; Japan: two answers, both wrong."""
    rows = []
    for number in range(350):
        late = number >= 280
        wrong = number % 2 == 0 if late else number % 20 == 0
        at = START + timedelta(days=number // 10)
        rows.append(verdict(number, logged_at=at, judged_at=at, errors=[error()] if wrong else []))
    rows += [verdict(1000 + n, country="JP", logged_at=START, judged_at=START, errors=[error()]) for n in range(2)]
    with Store.open(store_url) as store:
        put(store, *rows)
        yield store


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


@contextmanager
def webhook(received: list[Any], *answers: int) -> Iterator[str]:
    """A receiver that gives these answers first and then takes everything; it keeps what it took."""
    planned = list(answers)

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status = planned.pop(0) if planned else 200
            if status == 200:
                received.append(body)
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/login")
            self.end_headers()

        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook"
    finally:
        server.shutdown()
        server.server_close()


def test_a_webhook_gets_each_event_with_a_link_to_the_view(store: Store) -> None:
    received: list[Any] = []
    with webhook(received) as address:
        store.query(check, rules(kind="rate_above", level=0.2, floor=50), DAY + timedelta(days=34))
        told = deliver(store, address, "https://dash.example/")
        assert [(one.tries, one.problem) for one in told] == [(1, None)]
        assert deliver(store, address) == []
    assert len(received) == 1
    assert "https://dash.example/?since=" in received[0]["text"]


def test_a_webhook_that_stumbles_is_asked_again_after_growing_pauses(store: Store) -> None:
    received: list[Any] = []
    pauses: list[float] = []
    with webhook(received, 503, 429) as address:
        store.query(check, rules(kind="no_traffic"))
        told = deliver(store, address, sleep=pauses.append)
    assert [(one.tries, one.problem) for one in told] == [(3, None)]
    assert pauses == [1.0, 2.0]
    assert len(received) == 1


def test_what_no_webhook_took_is_on_record_and_sent_once_by_a_later_check(store: Store) -> None:
    received: list[Any] = []
    store.query(check, rules(kind="no_traffic"))
    with webhook(received, 404) as address:
        assert [one.problem for one in deliver(store, address)] == ["it answered 404"]
        assert store.query(standing)[0].problem == "it answered 404"
        assert deliver(store, address) == []
        assert [one.problem for one in deliver(store, address, again_after=timedelta(0))] == [None]
        assert deliver(store, address, again_after=timedelta(0)) == []
    assert store.query(standing)[0].problem is None
    assert len(received) == 1
    store.query(check, rules(kind="no_traffic"), DAY)
    told = deliver(store, address, sleep=lambda seconds: None)
    assert [(one.tries, one.alert.event) for one in told] == [(4, "cleared")]
    assert told[0].problem is not None
    assert address not in told[0].problem


def test_a_redirect_is_not_followed_and_not_taken_for_a_yes(store: Store) -> None:
    received: list[Any] = []
    store.query(check, rules(kind="no_traffic"))
    with webhook(received, 302) as address:
        (told,) = deliver(store, address)
    assert (told.tries, told.problem) == (1, "it answered 302, and a redirect is not followed")
    assert store.query(standing)[0].problem == told.problem
    assert received == []


@pytest.mark.parametrize(
    "address",
    [
        "hooks.example/SECRET",
        "hooks.example:443/SECRET",
        "file:///SECRET",
        "https:///SECRET",
        "https://[::1/SECRET",
        "https://hooks.example:port/SECRET",
        "https://hooks.example/SE CRET",
        "https://hooks.example/SECRÉT",
    ],
)
def test_an_address_that_is_none_is_said_to_be_so_without_telling_it(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, address: str
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("rules:\n- {name: lost, kind: dead_letter_share, level: 0.5, floor: 1}\n")
    monkeypatch.setenv("EXCAM_ALERT_RULES", str(file))
    monkeypatch.setenv("EXCAM_ALERT_WEBHOOK", address)
    with alerts_beside(store):
        put(store, dead_letter(5000))
    problem = "its address does not have the form https://host/path"
    assert store.query(standing)[0].problem == problem
    assert f"the webhook was not told of lost: {problem}" in caplog.text
    assert "SECR" not in caplog.text


def test_a_name_in_the_logs_cannot_call_everybody_or_make_a_link(store: Store) -> None:
    received: list[Any] = []
    name = "<!channel> <https://evil.example|Sign in> R&D"
    put(store, *(verdict(6000 + number, app=name, logged_at=START, errors=[error()]) for number in range(10)))
    store.query(check, rules(kind="rate_above", by="app", level=0.5, floor=10, app=name), DAY)
    with webhook(received) as address:
        deliver(store, address)
    assert "&lt;!channel&gt; &lt;https://evil.example|Sign in&gt; R&amp;D" in received[0]["text"]
    assert "<" not in received[0]["text"]


def test_two_that_check_at_once_tell_of_an_alert_once_and_of_its_end_once(store: Store, store_url: str) -> None:
    received: list[Any] = []
    rule = rules(kind="rate_above", level=0.2, floor=50)

    def run(address: str, today: Any) -> None:
        with Store.open(store_url) as other:
            other.query(check, rule, today)
            deliver(other, address)

    with webhook(received) as address:
        for today in (DAY + timedelta(days=34), DAY + timedelta(days=20)):
            threads = [threading.Thread(target=run, args=(address, today)) for _ in range(2)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert len(received) == 2
    assert "cleared" in received[1]["text"]


def test_rules_are_checked_after_a_commit_without_holding_it_up(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("rules:\n- {name: lost, kind: dead_letter_share, level: 0.5, floor: 10}\n")
    monkeypatch.setenv("EXCAM_ALERT_RULES", str(file))
    received: list[Any] = []
    with webhook(received) as address:
        monkeypatch.setenv("EXCAM_ALERT_WEBHOOK", address)
        with alerts_beside(store):
            put(store, *(dead_letter(5000 + number) for number in range(20)))
        put(store, *(dead_letter(6000 + number) for number in range(20)))
    assert [alert.rule for alert in store.query(standing)] == ["lost"]
    assert len(received) == 1


@pytest.mark.parametrize("text", ["rules: []", "rules:\n- {name: r, kind: rate_above, level: 0, judge: nobody}"])
def test_rules_that_cannot_be_checked_never_fail_the_run(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, text: str
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text)
    monkeypatch.setenv("EXCAM_ALERT_RULES", str(file))
    with alerts_beside(store):
        put(store, dead_letter(5000))
    assert "alerts" in caplog.text
    assert store.query(standing) == []


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


def test_a_store_that_is_new_or_not_there_yet_is_quiet_and_no_failure(store_url: str, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("rules:\n- {name: quiet, kind: no_traffic}\n- {name: high, kind: rate_above, level: 0.1}\n")
    asked = ["alerts", "check", "--rules", str(file), "--store", store_url]
    nowhere = CliRunner().invoke(cli, asked)
    assert (nowhere.exit_code, nowhere.stdout) == (0, "")
    assert "no store" in nowhere.stderr
    assert CliRunner().invoke(cli, [*asked, "--json"]).stdout.strip() == "[]"
    assert not (tmp_path / "store").exists(), "a check makes no store"
    with Store.open(store_url) as store:
        new = CliRunner().invoke(cli, asked)
        assert (new.exit_code, new.stdout) == (0, "0 alerts stand\n")
        put(store, dead_letter(1))
    assert "fired: quiet" in CliRunner().invoke(cli, asked).stdout


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("rules: []", "rules"),
        ("rules:\n- {name: a, kind: rate_above}", "needs a level"),
        ("rules:\n- {name: a, kind: magic}", "kind"),
        ("rules:\n- {name: a, kind: no_traffic}\n- {name: a, kind: no_traffic}", "same name"),
        ("a: [", "not YAML"),
        ("rules:\n- {name: a, kind: no_traffic, country: Atlantis}", "country: .*Atlantis"),
        ("rules:\n- {name: é, kind: no_traffic}", "not YAML in UTF-8"),
    ],
)
def test_a_mistake_in_the_file_is_named(tmp_path: Path, text: str, wrong: str) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(text, "latin-1")
    with pytest.raises(UserError, match=wrong):
        Rules.load(file)


@pytest.mark.parametrize("spelling", ["ID", "id", "Indonesia"])
def test_a_rules_country_may_be_spelt_in_any_way(tmp_path: Path, spelling: str) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text(f"rules:\n- {{name: a, kind: no_traffic, country: {spelling}}}", "utf-8")
    assert Rules.load(file).rules[0].country == "ID"
