"""The dashboard behind Ray Serve, below a prefix, with no engine: a page, an API answer, and a token at the door."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from excam.fault import UserError
from serve.dashboard.deployment import build
from tests.ports import free_port

TOKEN = "let-me-in"


@pytest.fixture(scope="module")
def address(filled: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """`serve run` on a config of ours, with a Ray of its own: what a cluster does with the same file."""
    folder = tmp_path_factory.mktemp("serve")
    people = folder / "people.yaml"
    people.write_text(f"- {{name: Ana, role: read, sha256: {hashlib.sha256(TOKEN.encode()).hexdigest()}}}\n")
    port = free_port()
    application = {
        "name": "dashboard",
        "route_prefix": "/dashboard",
        "import_path": "serve.dashboard.deployment:build",
        "args": {"store": f"ducklake:sqlite:{filled}/catalog.sqlite", "tokens": str(people), "cpus": 0.1},
    }
    config = folder / "serve.yaml"
    config.write_text(
        yaml.safe_dump({"http_options": {"host": "127.0.0.1", "port": port}, "applications": [application]})
    )
    with (folder / "log").open("w") as log:
        command = [str(Path(sys.executable).parent / "serve"), "run", "--address", "local", str(config)]
        running = subprocess.Popen(command, stdout=log, stderr=log)
        try:
            where = f"http://127.0.0.1:{port}/dashboard"
            until_healthy(running, where, folder / "log")
            yield where
        finally:
            running.send_signal(signal.SIGINT)
            running.wait(60)


def until_healthy(running: subprocess.Popen[bytes], where: str, log: Path) -> None:
    deadline = time.monotonic() + 300
    while time.monotonic() < deadline:
        assert running.poll() is None, log.read_text()
        try:
            if httpx.get(f"{where}/-/health").status_code == 200:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.3)
    raise AssertionError(log.read_text())


def test_serve_answers_with_the_page_and_the_api_below_its_prefix(address: str) -> None:
    with httpx.Client(headers={"Authorization": f"Bearer {TOKEN}"}) as client:
        assert client.get(f"{address}/api/summary").json()["rate"]["n"] == 84 * 7 + 6
        page = client.get(f"{address}/")
        assert "of 594 answers about culture hold an error" in page.text
        assert 'href="/dashboard/country?country=ID"' in page.text
        assert 'href="/country' not in page.text
        assert client.get(f"{address}/static/style.css").status_code == 200
        assert client.get(address, follow_redirects=True).url.path == "/dashboard/"
        assert client.get(f"{address}/api/nothing").json()["detail"] == "Not Found"


def test_serve_lets_nobody_in_without_a_token(address: str) -> None:
    with httpx.Client() as client:
        assert client.get(f"{address}/api/summary").status_code == 401
        asked = client.get(f"{address}/?country=ID")
        assert asked.headers["location"] == "/dashboard/login?next=%2Fdashboard%2F%3Fcountry%3DID"
        form = {"token": TOKEN, "next": "/dashboard/?country=ID"}
        signed = client.post(f"{address}/login", data=form)
        assert signed.headers["location"] == "/dashboard/?country=ID"
        assert client.get(f"{address}/?country=ID").status_code == 200
        assert client.post(f"{address}/login", data=form | {"next": "/elsewhere"}).headers["location"] == "/dashboard/"


@pytest.mark.parametrize(
    ("args", "wrong"),
    [
        ({"store": "ducklake:sqlite:x.sqlite"}, "no token"),
        ({"store": "ducklake:sqlite:x.sqlite", "only_this_machine": True, "replicas": 0}, r"args\.replicas"),
        ({"store": "ducklake:sqlite:x.sqlite", "password": "x"}, r"args\.password"),
        ({"store": "ducklake:sqlite:x.sqlite", "tokens": "nowhere.yaml"}, "cannot be read"),
    ],
)
def test_a_mistake_in_the_config_is_named(monkeypatch: pytest.MonkeyPatch, args: dict[str, Any], wrong: str) -> None:
    for variable in ("EXCAM_TOKEN", "EXCAM_READ_TOKEN"):
        monkeypatch.delenv(variable, raising=False)
    with pytest.raises(UserError, match=wrong):
        build(args)
