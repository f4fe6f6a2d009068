"""Lists leave the dashboard as CSV or Parquet; who took or read what is recorded; alerts are shown and measured."""

from __future__ import annotations

import codecs
import csv
import io
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from excam.alerts.check import check
from excam.alerts.rules import Rules
from excam.store import Store
from serve.dashboard.access import Access
from serve.dashboard.api import export
from serve.dashboard.app import build_dashboard
from serve.dashboard.audit import Audit
from tests.excam.store.outcomes import TUNED, dead_letter, error, put, verdict


def opened(url: str, audit: Path | None = None) -> TestClient:
    return TestClient(build_dashboard(url, Access({}), Audit(audit)), base_url="http://127.0.0.1")


def read_csv(content: bytes) -> list[dict[str, str]]:
    """As a spreadsheet does: the mark at the beginning says that it is UTF-8, and is no part of the first name."""
    assert content.startswith(codecs.BOM_UTF8 + b'"pair_id"')
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def test_a_filtered_list_is_exported_whole_in_both_forms(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export, "PORTION", 4)
    listed = client.get("/api/reports", params={"country": "JP", "limit": 200}).json()
    rows = read_csv(client.get("/api/export?country=JP&format=csv").content)
    assert {row["pair_id"] for row in rows} == {report["pair_id"] for report in listed["reports"]}
    table = pq.read_table(io.BytesIO(client.get("/api/export?country=JP&format=parquet").content))
    assert table.num_rows == len(rows)
    assert "立てて置く" in {row["span"] for row in rows}
    assert read_csv(client.get("/api/export?country=AQ").content) == []
    japanese = next(row for row in table.to_pylist() if row["pair_id"] == "japanese")
    assert japanese["output"][japanese["start"] : japanese["end"]] == "立てて置く"


def test_a_spreadsheet_runs_nothing_that_a_log_holds(own_url: str) -> None:
    with Store.open(own_url) as store:
        formula = verdict(1, pair_id="f", instruction="=1+1", output="@SUM(A1)", errors=[error()], country="FR")
        put(store, formula, judge=TUNED)
    with opened(own_url) as client:
        (row,) = read_csv(client.get("/api/export?country=FR").content)
    assert (row["instruction"], row["output"]) == ("'=1+1", "'@SUM(A1)")


def test_the_audit_log_says_who_viewed_and_exported_what(filled: Path, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with opened(f"ducklake:sqlite:{filled}/catalog.sqlite", log) as client:
        client.get("/report", params={"id": "arabic"})
        client.get("/api/export", params={"country": "SA"})
        client.get("/api/reports", params={"country": "DE"})
        client.get("/api/summary")
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["what"], line["pairs"]) for line in lines] == [
        ("viewed", ["arabic"]),
        ("exported csv", ["arabic"]),
        ("listed", ["pair/<script>&?"]),
    ]
    assert {line["who"] for line in lines} == {Access.local().name}


def test_every_page_and_answer_with_logged_text_is_in_the_audit_log(own_url: str, tmp_path: Path) -> None:
    log = tmp_path / "audit.jsonl"
    with Store.open(own_url) as store:
        put(store, dead_letter(9002, pair_id="lost"), judge=TUNED)
    with opened(own_url, log) as client:
        letters = [letter["dead_id"] for letter in client.get("/api/dead-letters").json()]
        client.get("/runs")
        for address in ("/dead-letter?id=", "/api/dead-letters/"):
            client.get(f"{address}{letters[0]}")
        for page in ("/country", "/reports"):
            client.get(page, params={"country": "SA"})
        for page in ("/", "/compare", "/country?country=XX", "/api/types", "/api/judges", "/api/alerts"):
            client.get(page)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["what"], line["pairs"], line["dead_letters"]) for line in lines] == [
        ("listed", ["lost"], letters),
        ("listed", ["lost"], letters),
        ("viewed", ["lost"], letters[:1]),
        ("viewed", ["lost"], letters[:1]),
        ("listed", ["arabic"], []),
        ("listed", ["arabic"], []),
    ]


def test_an_alert_is_on_the_overview_and_in_the_metrics_until_it_clears(own_url: str) -> None:
    rules = Rules.model_validate({"rules": [{"name": "<b>quiet</b>", "kind": "no_traffic", "days": 3}]})
    with opened(own_url) as client:
        assert 'id="alerts"' not in client.get("/").text
        with Store.open(own_url) as store:
            store.query(check, rules)
        assert client.get("/api/alerts").json()[0]["event"] == "fired"
        assert "&lt;b&gt;quiet&lt;/b&gt;: no record in 3 days" in client.get("/").text
        assert 'excam_alert_standing{rule="<b>quiet</b>",subject="all"} 1.0' in client.get("/metrics").text
