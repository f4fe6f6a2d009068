"""Readers ask that a record be tried again; the dashboard shows what became of it, and a run carries it out."""

from __future__ import annotations

from click.testing import CliRunner

from excam.cli import cli
from excam.store import Store
from excam.store.replays import replays, request_replay, waiting_replays
from excam.store.runs import list_runs
from serve.dashboard.access import Access
from tests.excam.store.outcomes import TUNED, dead_letter, put, verdict
from tests.serve.dashboard.conftest import dashboard

PEOPLE = Access.from_environment({"EXCAM_TOKEN": "ana", "EXCAM_READ_TOKEN": "ben"})
ANA, BEN = {"Authorization": "Bearer ana"}, {"Authorization": "Bearer ben"}


def test_a_request_waits_until_the_record_has_been_tried_again(own_url: str) -> None:
    with dashboard(own_url, PEOPLE) as client:
        first, second = (letter["dead_id"] for letter in client.get("/api/dead-letters", headers=ANA).json())
        assert client.post("/api/replays", json={"dead_ids": [first]}, headers=BEN).status_code == 403
        asked = client.post("/api/replays", json={"dead_ids": [first, "nobody"]}, headers=ANA)
        assert (asked.status_code, asked.json()) == (201, {"requested": 1})
        assert client.post("/api/replays", json={"dead_ids": None}, headers=ANA).json() == {"requested": 1}
        shown = client.get(f"/api/dead-letters/{first}", headers=BEN).json()["replay"]
        assert (shown["state"], shown["requested_by"]) == ("waiting", "reviewer")
        with Store.open(own_url) as store:
            assert set(store.query(waiting_replays, TUNED.judge_version)) == {first, second}
            assert store.query(waiting_replays, "another judge") == []
            put(store, dead_letter(9000), verdict(9001), judge=TUNED)
            assert store.query(waiting_replays) == []
            assert {one.state.value for one in store.query(replays)} == {"failed", "judged"}
        assert "in vain" in client.get("/runs", headers=ANA).text
        assert client.post("/api/replays", json={"dead_ids": None}, headers=ANA).json() == {"requested": 1}


def test_the_button_is_for_those_who_may_review(own_url: str) -> None:
    with dashboard(own_url, PEOPLE) as client:
        assert "Ask to try again" in client.get("/runs", headers=ANA).text
        assert "Ask to try" not in client.get("/runs", headers=BEN).text
        assert client.post("/replay", headers=BEN).status_code == 403
        there = client.post("/replay", headers=ANA, follow_redirects=False)
        assert there.headers["location"] == "/runs#dead-letters"
        page = client.get("/runs", headers=BEN).text
        assert page.count("waits for the next replay") == 2
        assert client.post("/replay", headers=ANA | {"Sec-Fetch-Site": "cross-site"}).status_code == 403


def test_without_a_request_no_judge_is_started(own_url: str) -> None:
    done = CliRunner().invoke(cli, ["dead-letters", "replay", "--requested", "--store", own_url])
    assert (done.exit_code, done.output) == (0, "No replay is requested.\n")
    both = CliRunner().invoke(cli, ["dead-letters", "replay", "abc", "--requested", "--store", own_url])
    assert both.exit_code != 0


def test_what_is_requested_of_another_judge_is_named_and_begins_no_run(own_url: str) -> None:
    with Store.open(own_url) as store:
        count = store.query(request_replay, None, "ana")
        before = len(store.query(list_runs))
    asked = ["dead-letters", "replay", "--requested", "--store", own_url, "--base", "smollm2-135m", "--adapter", "none"]
    done = CliRunner().invoke(cli, asked)
    assert (done.exit_code, done.stdout) == (0, "No replay is requested.\n")
    assert f"{count} requested of judge {TUNED.judge_version} ({TUNED.base} + culture@1)" in done.stderr
    with Store.open(own_url) as store:
        assert len(store.query(list_runs)) == before
        assert len(store.query(waiting_replays)) == count
