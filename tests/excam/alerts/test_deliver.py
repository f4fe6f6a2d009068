"""Alerts reach a webhook once each, whatever it answers, and never hold a run up."""

from __future__ import annotations

import threading
import time
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from excam.alerts import beside
from excam.alerts.beside import alerts_beside
from excam.alerts.check import check, standing
from excam.alerts.deliver import deliver
from excam.alerts.rules import Rules
from excam.cli import cli
from excam.fault import UserError
from excam.store import Store
from tests.excam.alerts.cases import DAY, rules, webhook
from tests.excam.store.outcomes import JUDGE, START, dead_letter, error, put, verdict


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """On shared cores a check may take longer than a run would wait for it."""
    monkeypatch.setattr(beside, "LAST_CHECK_SECONDS", 600.0)


@pytest.fixture
def losses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Runs check a rule that dead letters break."""
    file = tmp_path / "rules.yaml"
    file.write_text("rules:\n- {name: lost, kind: dead_letter_share, level: 0.5, floor: 1}\n")
    monkeypatch.setenv("EXCAM_ALERT_RULES", str(file))


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


def test_an_event_that_the_webhook_refuses_does_not_keep_the_others_waiting(store: Store) -> None:
    received: list[Any] = []
    both = [{"name": name, "kind": "no_traffic", "days": 1} for name in ("first", "second")]
    store.query(check, Rules.model_validate({"rules": both}))
    with webhook(received, 400) as address:
        told = deliver(store, address)
    assert [(one.alert.rule, one.problem) for one in told] == [("first", "it answered 400"), ("second", None)]
    with webhook(received, 500, 500, 500, 500) as address:
        store.query(check, rules(kind="rate_above", level=1.0))
        told = deliver(store, address, again_after=timedelta(0), sleep=lambda seconds: None)
    assert [(one.tries, one.problem) for one in told] == [(4, "it answered 500")], "one that is down is left alone"


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
@pytest.mark.usefixtures("losses")
def test_an_address_that_is_none_is_said_to_be_so_without_telling_it(
    store: Store, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, address: str
) -> None:
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


@pytest.mark.usefixtures("losses")
def test_rules_are_checked_after_a_commit_without_holding_it_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    received: list[Any] = []
    with webhook(received) as address:
        monkeypatch.setenv("EXCAM_ALERT_WEBHOOK", address)
        with alerts_beside(store):
            put(store, *(dead_letter(5000 + number) for number in range(20)))
        put(store, *(dead_letter(6000 + number) for number in range(20)))
    assert [alert.rule for alert in store.query(standing)] == ["lost"]
    assert len(received) == 1


@pytest.mark.usefixtures("losses")
def test_a_webhook_that_hangs_does_not_keep_a_run_from_ending(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beside, "LAST_CHECK_SECONDS", 0.0)
    received: list[Any] = []
    ended = threading.Event()
    with webhook(received, until=ended) as address:
        monkeypatch.setenv("EXCAM_ALERT_WEBHOOK", address)
        with alerts_beside(store):
            put(store, dead_letter(5000))
        assert received == []
        (watch,) = (thread for thread in threading.enumerate() if thread.name == "excam-alerts")
        ended.set()
        watch.join()
    assert len(received) == 1


def test_a_rule_that_cannot_be_checked_keeps_no_other_from_being_told(
    store: Store, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    received: list[Any] = []
    file = tmp_path / "rules.yaml"
    lines = ["rules:", "- {name: of nobody, kind: no_traffic, judge: %s}", "- {name: quiet, kind: no_traffic}"]
    file.write_text("\n".join(lines) % JUDGE)
    store.query(check, Rules.load(file))
    file.write_text("\n".join([*lines, "- {name: quieter, kind: no_traffic, days: 2}"]) % "nobody")
    with webhook(received) as address:
        monkeypatch.setenv("EXCAM_ALERT_WEBHOOK", address)
        told = CliRunner().invoke(cli, ["alerts", "check", "--rules", str(file), "--store", store_url])
    assert isinstance(told.exception, UserError)
    assert told.exception.message == "rule 'of nobody' cannot be checked: no judge 'nobody' in this store"
    assert {alert.rule for alert in store.query(standing)} == {"of nobody", "quiet", "quieter"}, "and what stood stands"
    assert len(received) == 3


def test_a_rule_with_a_mistake_turns_no_other_off_and_is_told_once_until_it_is_mended(
    store: Store, store_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    received: list[Any] = []
    file = tmp_path / "rules.yaml"
    monkeypatch.setenv("EXCAM_ALERT_RULES", str(file))
    asked = ["alerts", "check", "--store", store_url]
    sound = "rules:\n- {name: quiet, kind: no_traffic}\n- {name: lost, kind: dead_letter_share, level: 0.5, floor: 1}\n"
    with webhook(received) as address:
        monkeypatch.setenv("EXCAM_ALERT_WEBHOOK", address)
        file.write_text(sound)
        CliRunner().invoke(cli, asked)
        file.write_text(sound.replace("no_traffic", "no_traffic, level: 0.5"))
        with alerts_beside(store):
            put(store, dead_letter(5000))
        told = CliRunner().invoke(cli, asked)
        stood = {(alert.rule, alert.subject) for alert in store.query(standing)}
        file.write_text(sound)
        mended = CliRunner().invoke(cli, asked)
    named = "rules.yaml: rule 'quiet': no_traffic does not look at level: take it out of this rule"
    assert named in caplog.text
    assert told.exit_code == 2
    assert named in told.stderr
    assert stood == {("quiet", "all"), ("quiet", "broken rule"), ("lost", "all")}, "and what it had fired stands"
    assert mended.exit_code == 0
    assert [("not checked" in one["text"], "cleared" in one["text"]) for one in received] == [
        (False, False),  # quiet
        (False, False),  # lost
        (True, False),
        (True, True),
    ]


def test_a_run_that_waits_for_traffic_tells_of_its_silence(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("rules:\n- {name: quiet, kind: no_traffic}\n")
    monkeypatch.setenv("EXCAM_ALERT_RULES", str(file))
    monkeypatch.setattr(beside, "QUIET_SECONDS", 0.01)
    with alerts_beside(store, waits=True):
        while not store.query(standing):
            time.sleep(0.01)


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
