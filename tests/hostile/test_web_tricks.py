"""Clients that dawdle, lie about their bodies or climb out of folders, and logs that try to become part of a page."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from excam.judge_card import JudgeCard
from excam.store import Store
from serve.api import build_api
from serve.dashboard.access import Access
from serve.dashboard.app import MAX_FORM, build_dashboard
from serve.dashboard.wording import pretty
from serve.guard import Guard
from tests.excam.store.outcomes import TUNED, dead_letter, error, put, verdict

SCRIPT = "\"'><script>document.title='x'</script><img src=x onerror=alert(1)><a href=javascript:x>"
CARD = JudgeCard(base="b", base_sha256="0" * 64, prompt_sha256="0" * 64, decoding={})


async def _answers(scope: Any, receive: Any, send: Any) -> None:
    raise AssertionError("nothing of this reaches the application")


def statuses(messages: list[dict[str, Any]], headers: list[tuple[bytes, bytes]], **limits: Any) -> list[int]:
    """What the guard answers to a body that comes in these pieces and then no more."""
    sent: list[dict[str, Any]] = []

    async def receive() -> dict[str, Any]:
        if messages:
            return messages.pop(0)
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "path": "/v1/judge", "method": "POST", "headers": headers}
    asyncio.run(Guard(_answers, None, **limits)(scope, receive, send))
    return [message["status"] for message in sent if message["type"] == "http.response.start"]


def test_a_client_that_never_finishes_its_body_is_sent_away() -> None:
    piece = {"type": "http.request", "body": b"{", "more_body": True}
    assert statuses([piece], [(b"content-length", b"100")], patience=0.05) == [408]


def test_half_a_body_is_never_taken_for_a_whole_one() -> None:
    half = {"type": "http.request", "body": b"id=", "more_body": True}
    assert statuses([half, {"type": "http.disconnect"}], [(b"content-length", b"100")], patience=5.0) == []


@pytest.mark.parametrize("length", [b"-1", b"1e9", b"99999999999999999999", b"\xb2", b"0x10", b"", b"9" * 5000])
def test_a_length_that_is_none_or_too_much_is_refused_before_the_body(length: bytes) -> None:
    assert statuses([], [(b"content-length", length)], patience=5.0) == [413]


def test_a_body_larger_than_it_said_is_refused_as_soon_as_it_is() -> None:
    piece = {"type": "http.request", "body": b"x" * 600, "more_body": True}
    assert statuses([dict(piece), dict(piece)], [(b"content-length", b"10")], max_body=1000) == [413]


def test_a_compressed_body_is_not_unfolded() -> None:
    with TestClient(build_api(None, CARD, None)) as client:
        bomb = gzip.compress(json.dumps({"instruction": "x", "output": "y" * 10_000_000}).encode())
        answer = client.post("/v1/judge", content=bomb, headers={"content-encoding": "gzip"})
    assert answer.status_code in (400, 422)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A dashboard on a store in which every text tries to be markup."""
    url = f"ducklake:sqlite:{tmp_path_factory.mktemp('script')}/catalog.sqlite"
    named = dict.fromkeys(
        ("pair_id", "instruction", "output", "country", "country_how", "language", "output_language", "app", "model"),
        SCRIPT,
    )
    wrong = error(
        type=SCRIPT, category=SCRIPT, span=SCRIPT, start=0, end=len(SCRIPT), explanation=SCRIPT, severity=SCRIPT
    )
    row = verdict(1, **named, metadata=json.dumps({SCRIPT: SCRIPT}), source=SCRIPT, errors=[wrong], score=-5.0)
    letter = dead_letter(2, source=SCRIPT, stage=SCRIPT, reason=SCRIPT, detail=SCRIPT, record=SCRIPT, pair_id=SCRIPT)
    judge = TUNED.model_copy(update={"base": SCRIPT, "adapter": SCRIPT})
    with Store.open(url) as store:
        put(store, row, letter, judge=judge)
    with TestClient(build_dashboard(url, Access({})), base_url="http://127.0.0.1") as client:
        yield client


class Tags(HTMLParser):
    """The tags of a page and what in them could act."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.acting: list[str] = []
        self.images: list[str | None] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag in ("script", "iframe", "object", "embed", "base", "meta") and (given.get("src") or "")[-3:] != ".js":
            self.acting += [tag] if tag != "meta" or "http-equiv" in given else []
        self.acting += [
            name for name, value in attrs if name.startswith("on") or (value or "").startswith("javascript:")
        ]
        self.images += [given.get("src")] if tag == "img" else []


PAGES = ("/", "/reports", "/report", "/runs", "/dead-letter", "/compare", "/country", "/login")


@pytest.mark.parametrize("page", PAGES)
def test_no_text_of_a_log_acts_on_any_page(client: TestClient, page: str) -> None:
    letter = client.get("/api/dead-letters").json()[0]["dead_id"]
    asked = {"/report": {"id": SCRIPT}, "/dead-letter": {"id": letter}, "/country": {"country": SCRIPT}}
    answer = client.get(page, params=asked.get(page, {}) | {"next": SCRIPT, "a": SCRIPT, "b": SCRIPT, "model": SCRIPT})
    tags = Tags(answer.text)
    assert answer.status_code in (200, 404)
    assert tags.acting == []
    assert "x" not in tags.images
    assert page == "/compare" or "&lt;script&gt;" in answer.text


@pytest.mark.parametrize(
    "record", ['{"a":' * 3000 + "1" + "}" * 3000, "[" * 100_000, r'{"half a character": "\ud800"}']
)
def test_a_record_that_cannot_be_laid_out_is_shown_as_it_was_logged(record: str) -> None:
    assert pretty(record).encode() == record.encode()


@pytest.mark.parametrize(
    "path", ["/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"]
)
def test_no_path_leads_out_of_the_static_folder(client: TestClient, path: str) -> None:
    answer = client.get(path)
    assert answer.status_code == 404
    assert "import" not in answer.text


@pytest.mark.parametrize("path", ["/api/reports/../../etc", "/api/dead-letters/%00", "/report?id=%00", "/api/runs;x"])
def test_odd_addresses_are_answered_and_name_nothing_of_the_machine(
    client: TestClient, tmp_path: Path, path: str
) -> None:
    answer = client.get(path)
    assert answer.status_code in (404, 405, 422)
    assert str(tmp_path.parent) not in answer.text


def test_a_form_too_large_is_refused(client: TestClient) -> None:
    assert client.post("/api/reviews", content=b"x" * (MAX_FORM + 1)).status_code == 413
