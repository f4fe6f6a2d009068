"""The JSON API answers what the store holds, and nothing about the store itself."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from urllib.parse import quote

import pytest
from fastapi.testclient import TestClient

from excam.store import Store
from serve.dashboard.access import Access
from serve.dashboard.app import build_dashboard
from serve.dashboard.audit import Audit
from serve.dashboard.security import HEADERS
from tests.excam.store.outcomes import CARD, START, TUNED, put, put_run, verdict
from tests.serve.dashboard.conftest import dashboard


def test_the_summary_counts_what_was_judged_left_out_and_lost(client: TestClient) -> None:
    found = client.get("/api/summary").json()
    assert found["judge"]["judge_version"] == TUNED.judge_version
    assert found["rate"]["n"] == 84 * 7 + 3 + 3
    assert found["not_applicable"] == 40
    assert found["judged"] == found["rate"]["n"] + 40
    assert found["dead_letters"] == 2
    assert found["rate"]["low"] < found["rate"]["rate"] < found["rate"]["high"]


def test_a_country_that_got_worse_is_told_with_its_significance(client: TestClient) -> None:
    found = {row["country"]: row for row in client.get("/api/countries").json()["countries"]}
    assert found["ID"]["change"]["difference"] > 0.1
    assert found["ID"]["change"]["p_adjusted"] < 0.001
    assert found["JP"]["change"]["p_adjusted"] > 0.05
    assert found["ID"]["change"]["low"] < found["ID"]["change"]["difference"] < found["ID"]["change"]["high"]


def test_three_answers_are_too_few_to_say(client: TestClient) -> None:
    found = {row["country"]: row for row in client.get("/api/countries").json()["countries"]}
    assert not found["MX"]["enough"]
    assert found["MX"]["change"] is None
    assert found["ID"]["enough"]


def test_trends_add_up_to_the_summary_whatever_the_bucket(client: TestClient) -> None:
    for bucket in ("day", "week", "month"):
        for by in ("all", "country", "model"):
            points = client.get("/api/trends", params={"bucket": bucket, "by": by}).json()["points"]
            assert sum(point["rate"]["n"] for point in points) == 84 * 7 + 6


@pytest.mark.parametrize(
    ("asked", "errors"),
    [
        ({"country": "MX"}, 3),
        ({"severity": "major", "country": "DE"}, 1),
        ({"p_error": "0.95"}, 3),
        ({"type": "language"}, 3),
        ({"type": "history"}, 0),
        ({"language": "ar"}, 1),
        ({"language": "Arabic"}, 1),
        ({"country": "mx"}, 3),
        ({"country": "Mexico"}, 3),
        ({"since": "2025-03-03", "until": "2025-03-04", "country": "ID"}, 1),
        ({"app": "", "model": "", "since": "", "p_error": ""}, None),
    ],
)
def test_every_filter_narrows_what_counts(client: TestClient, asked: dict[str, str], errors: int | None) -> None:
    everything = client.get("/api/summary").json()["rate"]["errors"]
    wanted = everything if errors is None else errors
    assert client.get("/api/summary", params=asked).json()["rate"]["errors"] == wanted
    assert client.get("/api/reports", params=asked).json()["total"] == wanted


@pytest.mark.parametrize("asked", [{"type": "Practise"}, {"type": "\0"}, {"severity": "Major"}])
def test_a_kind_of_error_that_there_is_not_is_a_mistake_and_no_rate_of_nought(
    client: TestClient, asked: dict[str, str]
) -> None:
    answer = client.get("/api/summary", params=asked)
    assert answer.status_code == 422
    assert "should be 'stereotyping', " in answer.text or "should be 'minor' or 'major'" in answer.text
    assert client.get("/", params=asked).status_code == 422


def test_reports_come_in_pages_that_neither_repeat_nor_skip(client: TestClient) -> None:
    first = client.get("/api/reports", params={"limit": 20}).json()
    pages = [
        client.get("/api/reports", params={"limit": 20, "offset": offset}).json()["reports"]
        for offset in range(0, first["total"], 20)
    ]
    ids = [report["pair_id"] for page in pages for report in page]
    assert len(ids) == len(set(ids)) == first["total"]


def test_a_report_is_found_by_an_id_of_any_characters(client: TestClient) -> None:
    found = client.get(f"/api/reports/{quote('pair/<script>&?', safe='')}").json()
    error = found["verdicts"][0]["errors"][0]
    assert found["output"][error["start"] : error["end"]] == "left hand"


def test_two_models_are_compared_country_by_country(client: TestClient) -> None:
    found = client.get("/api/compare", params={"side": "model", "a": "bot-1", "b": "bot-2"}).json()
    assert found["overall"]["a"]["n"] + found["overall"]["b"]["n"] == 84 * 7 + 6
    by_country = {row["country"]: row for row in found["countries"]}
    assert by_country["MX"]["change"] is None
    for row in found["countries"]:
        if row["change"]:
            assert row["change"]["difference"] == pytest.approx(row["b"]["rate"] - row["a"]["rate"])
            assert row["change"]["p_adjusted"] >= row["change"]["p_value"]


def test_two_judges_are_compared_on_the_answers_that_both_judged(own_url: str) -> None:
    asked = {"side": "judge", "a": TUNED.judge_version, "b": CARD.judge_version}
    with Store.open(own_url) as store:
        put(store, verdict(9500), judge=CARD)
    with dashboard(own_url) as client:
        assert client.get("/api/compare", params=asked).json()["both"] == 0
        assert "No answer was judged by both" in client.get("/compare", params=asked).text
        with Store.open(own_url) as store:
            put(store, *(verdict(number) for number in range(1, 41)), judge=CARD)
    with dashboard(own_url) as client:
        found = client.get("/api/compare", params=asked).json()
        assert (found["both"], found["overall"]["a"]["n"], found["overall"]["b"]["n"]) == (40, 40, 40)
        assert "Of the 40 answers that both judges have judged" in client.get("/compare", params=asked).text
        assert client.get("/api/compare", params={"a": "bot-1", "b": "bot-2"}).json()["both"] is None


def test_judges_runs_and_dead_letters_are_listed(client: TestClient) -> None:
    assert client.get("/api/judges").json()[0]["verdicts"] == 84 * 7 + 46
    assert client.get("/api/runs").json()[0]["state"] == "done"
    letters = client.get("/api/dead-letters").json()
    assert {letter["reason"] for letter in letters} == {"missing_output"}
    paged = [client.get("/api/dead-letters", params={"limit": 1, "offset": at}).json() for at in range(3)]
    assert [letter["dead_id"] for page in paged for letter in page] == [letter["dead_id"] for letter in letters]
    assert client.get("/api/runs", params={"offset": 1}).json() == []
    assert "record" in client.get(f"/api/dead-letters/{letters[0]['dead_id']}").json()


def test_the_api_describes_itself(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    for path in ("trends", "countries", "reports", "reports/{pair_id}", "judges", "runs", "dead-letters"):
        assert f"/api/{path}" in paths


@pytest.mark.parametrize(
    "path",
    [
        "/api/summary?since=yesterday",
        "/api/summary?p_error=2",
        "/api/summary?judge=nobody",
        "/api/reports?limit=100000",
        "/api/reports?offset=-1",
        "/api/reports/no-such-pair",
        "/api/trends?by=1;drop",
        "/api/nothing",
        "/nothing",
        "/?since=yesterday",
    ],
)
def test_a_wrong_question_gets_an_answer_without_a_path_or_sql(client: TestClient, filled: Path, path: str) -> None:
    answer = client.get(path)
    assert 400 <= answer.status_code < 500
    assert str(filled) not in answer.text
    assert "SELECT" not in answer.text
    assert "Traceback" not in answer.text


def test_a_report_shows_what_the_judge_of_its_list_says_of_the_pair(own_url: str) -> None:
    later = {"judged_at": START + timedelta(days=400)}
    with Store.open(own_url) as store:
        put(store, verdict(1, **later), verdict(7000, **later), judge=CARD)
        put_run(store, verdict(7001), judge=TUNED)
    with dashboard(own_url) as client:
        assert client.get("/api/summary").json()["judge"]["judge_version"] == TUNED.judge_version
        assert "p1" in {report["pair_id"] for report in client.get("/api/reports?limit=200").json()["reports"]}
        shown = client.get("/report?id=p1").text
        assert ": error found</h1>" in shown
        assert f'name="judge_version" value="{TUNED.judge_version}"' in shown
        assert "no error found</h1>" in client.get(f"/report?id=p1&judge={CARD.judge_version}").text
        assert "no error found</h1>" in client.get("/report?id=p7000").text, (
            "whoever has judged it, where none is chosen"
        )
        other = client.get(f"/report?id=p7000&judge={TUNED.judge_version}").text
        assert "This judge has given no verdict on this pair." in other
        assert f"judge={CARD.judge_version}" in other


@pytest.mark.parametrize("value", ["\0", "'; DROP TABLE x --", "🫠" * 200, "%", "a" * 299, "\u202e"])
def test_hostile_filters_find_nothing_and_break_nothing(client: TestClient, value: str) -> None:
    for name in ("country", "app", "language"):
        answer = client.get("/api/summary", params={name: value})
        assert answer.status_code == 200
        assert answer.json()["rate"]["errors"] == 0
        assert client.get("/", params={name: value}).status_code == 200


def test_a_store_out_of_reach_is_said_to_be_so_and_nothing_more(tmp_path: Path) -> None:
    url = f"ducklake:sqlite:{tmp_path}/later/catalog.sqlite"
    with dashboard(url) as client:
        for path in ("/", "/api/summary"):
            answer = client.get(path)
            assert answer.status_code == 503
            assert "cannot be reached" in answer.text
            assert str(tmp_path) not in answer.text
        assert not (tmp_path / "later").exists()
        Store.open(url).close()
        assert client.get("/").status_code == 404
        assert "no verdicts yet" in client.get("/").text


def test_every_answer_carries_a_policy_without_inline_script_or_style(client: TestClient) -> None:
    for path in ("/", "/api/summary", "/static/page.js", "/nothing"):
        policy = client.get(path).headers["content-security-policy"]
        assert "script-src 'self'" in policy
        assert "unsafe" not in policy


HALF = "\\ud800"


@pytest.mark.parametrize(
    ("path", "body", "field"),
    [
        ("/api/reviews", f'{{"pair_id": "{HALF}", "judge_version": "x", "opinion": "right"}}', "pair_id"),
        ("/api/reviews", f'{{"pair_id": "arabic", "judge_version": "{HALF}", "opinion": "right"}}', "judge_version"),
        ("/api/replays", f'{{"dead_ids": ["x", "{HALF}"]}}', "dead_ids.1"),
    ],
)
def test_half_a_character_is_refused_with_the_field_that_holds_it(
    client: TestClient, path: str, body: str, field: str
) -> None:
    answer = client.post(path, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert answer.json()["detail"].startswith(f"{field}: ")


def test_a_body_that_is_missing_is_said_to_be(client: TestClient) -> None:
    assert client.post("/api/replays").json()["detail"] == "body: Field required"


@pytest.mark.parametrize("path", ["/api/reports", "/reports"])
def test_an_answer_that_fails_carries_the_headers_of_all_others(filled: Path, tmp_path: Path, path: str) -> None:
    unwritable = Audit(tmp_path / "gone" / "audit.jsonl")
    app = build_dashboard(f"ducklake:sqlite:{filled}/catalog.sqlite", Access({}), unwritable)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        failed, good = client.get(path), client.get("/api/summary")
    assert failed.status_code == 500
    assert good.headers["Cache-Control"] == failed.headers["Cache-Control"] == "no-store"
    for name in HEADERS:
        assert failed.headers[name] == good.headers[name]
