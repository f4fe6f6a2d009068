"""Who is let in: this machine without a token, others only with one, and no page of somebody else's."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from starlette.responses import PlainTextResponse

from excam.fault import UserError
from serve.dashboard.access import Access, Person, Role
from serve.dashboard.gate import Gate
from serve.dashboard.pace import Pace
from tests.serve.dashboard.conftest import dashboard

TOKENS = Access.from_environment({"EXCAM_TOKEN": "write-me", "EXCAM_READ_TOKEN": "read-me"})


@pytest.fixture
def guarded(filled: Path) -> TestClient:
    return dashboard(f"ducklake:sqlite:{filled}/catalog.sqlite", TOKENS)


def test_only_loopback_may_go_without_a_token() -> None:
    Access({}).check_binding("127.0.0.1")
    TOKENS.check_binding("0.0.0.0")
    with pytest.raises(UserError, match=r"0\.0\.0\.0"):
        Access({}).check_binding("0.0.0.0")


def test_a_name_that_merely_points_at_this_machine_is_refused(client: TestClient) -> None:
    assert client.get("/api/summary", headers={"Host": "evil.example"}).status_code == 403


def test_the_api_asks_for_a_token_and_tells_roles_apart(guarded: TestClient) -> None:
    assert guarded.get("/api/summary").status_code == 401
    assert guarded.get("/api/summary", headers={"Authorization": "Bearer wrong"}).status_code == 401
    assert guarded.get("/api/summary", headers={"Authorization": "Bearer read-me"}).status_code == 200
    assert guarded.get("/-/health").status_code == 200
    assert TOKENS.who("read-me") == Person("reader", Role.READ)
    assert TOKENS.who("write-me") == Person("reviewer", Role.REVIEW)


def test_a_browser_signs_in_once_and_comes_back_to_the_page_it_asked_for(guarded: TestClient) -> None:
    asked = guarded.get("/?country=ID", follow_redirects=False)
    assert asked.headers["location"] == "/login?next=%2F%3Fcountry%3DID"
    assert "not known" in guarded.post("/login", data={"token": "wrong"}).text
    signed = guarded.post("/login", data={"token": "read-me", "next": "/?country=ID"}, follow_redirects=False)
    assert signed.headers["location"] == "/?country=ID"
    assert "HttpOnly" in signed.headers["set-cookie"]
    assert guarded.get("/api/summary").status_code == 200


def test_a_dashboard_below_a_prefix_keeps_its_cookie_to_itself(guarded: TestClient) -> None:
    below = TestClient(guarded.app, base_url="http://127.0.0.1", root_path="/dashboard")
    signed = below.post("/dashboard/login", data={"token": "read-me"}, follow_redirects=False)
    assert {part.strip() for part in signed.headers["set-cookie"].split(";")} == {
        "excam_token=read-me",
        "Path=/dashboard",
        "Max-Age=43200",
        "HttpOnly",
        "SameSite=lax",
    }
    assert below.get("/dashboard/api/summary").status_code == 200
    both = {"Cookie": 'theme=dark; excam_token="read-me"; excam_token=of-a-dashboard-above-this-one'}
    below.cookies.clear()
    assert below.get("/dashboard/api/summary", headers=both).status_code == 200


@pytest.mark.parametrize("token", ["пароль", "pässword", "a\nb", "\udcff"])
def test_a_token_that_nobody_could_send_is_refused_at_the_start_and_by_the_door(token: str) -> None:
    with pytest.raises(UserError, match="EXCAM_TOKEN holds signs that no HTTP header can"):
        Access.from_environment({"EXCAM_TOKEN": token})
    hashed = hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()
    assert Access({hashed: Person("Ana", Role.READ)}).who(token) is None


@pytest.mark.parametrize("elsewhere", ["//evil.example", "https://evil.example", "/\\evil.example", "/a\r\nb: c"])
def test_signing_in_never_leads_elsewhere(guarded: TestClient, elsewhere: str) -> None:
    signed = guarded.post("/login", data={"token": "read-me", "next": elsewhere}, follow_redirects=False)
    assert signed.headers["location"] == "/"


def test_a_write_from_another_site_is_refused(guarded: TestClient) -> None:
    for headers in ({"Sec-Fetch-Site": "cross-site"}, {"Origin": "https://evil.example"}):
        assert guarded.post("/login", data={"token": "read-me"}, headers=headers).status_code == 403


def test_tokens_come_from_a_file_of_hashes(tmp_path: Path) -> None:
    file = tmp_path / "tokens.yaml"
    file.write_text(f"- name: Ana\n  role: review\n  sha256: {hashlib.sha256(b'secret').hexdigest()}\n")
    assert Access.from_environment({}, file).who("secret") == Person("Ana", Role.REVIEW)
    file.write_text("- name: Ana\n  role: admin\n  sha256: x\n")
    with pytest.raises(UserError, match=r"0\.role"):
        Access.from_environment({}, file)
    file.write_bytes("- name: Zoë\n".encode("latin-1"))
    with pytest.raises(UserError, match="not YAML in UTF-8"):
        Access.from_environment({}, file)


def test_two_people_with_one_token_are_a_mistake_for_one_would_sign_what_the_other_says(tmp_path: Path) -> None:
    file = tmp_path / "tokens.yaml"
    token = hashlib.sha256(b"secret").hexdigest()
    file.write_text(f"- {{name: Ana, role: review, sha256: {token}}}\n- {{name: Ben, role: read, sha256: {token}}}\n")
    with pytest.raises(UserError, match="Ana and Ben have the same token"):
        Access.from_environment({}, file)


@pytest.mark.parametrize("variable", ["EXCAM_TOKEN", "EXCAM_READ_TOKEN"])
@pytest.mark.parametrize("blank", [" ", "\n", "\t \r\n"])
def test_a_blank_token_is_a_mistake_and_an_empty_one_is_none(variable: str, blank: str) -> None:
    with pytest.raises(UserError, match=f"{variable} is set but blank"):
        Access.from_environment({variable: blank})
    assert Access.from_environment({variable: ""}).is_open
    assert Access.from_environment({variable: f"secret{blank}"}).who("secret") is not None


def test_the_hash_of_nothing_is_no_entry_and_nothing_is_nobodys_token(tmp_path: Path) -> None:
    nothing = hashlib.sha256(b"").hexdigest()
    file = tmp_path / "tokens.yaml"
    file.write_text(f"- name: Ana\n  role: review\n  sha256: {nothing}\n")
    with pytest.raises(UserError, match=r"0\.sha256.*no token at all"):
        Access.from_environment({}, file)
    assert Access({nothing: Person("Ana", Role.REVIEW)}).who(" ") is None


def test_a_client_that_asks_too_fast_waits_and_then_goes_on() -> None:
    now = [0.0]
    pace = Pace(burst=3, per_second=1.0, clock=lambda: now[0])
    assert [pace.wait("a") for _ in range(3)] == [0, 0, 0]
    assert pace.wait("a") == pytest.approx(1.0)
    assert pace.wait("b") == 0
    now[0] = 1.0
    assert pace.wait("a") == 0


def test_too_many_requests_are_answered_with_when_to_come_back() -> None:
    gate = Gate(PlainTextResponse("in"), Access({}), Pace(burst=2, per_second=0.01))
    client = TestClient(gate, base_url="http://127.0.0.1")
    answers = [client.get("/-/health") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert int(answers[-1].headers["retry-after"]) >= 1
