"""Ray on this machine: its ports listen everywhere, so its token is what keeps others out."""

from __future__ import annotations

import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from serve.start import keep_token_private

ROOT = Path(__file__).parents[2]
START = """
import sys, ray
from serve.start import start_ray
start_ray()
print(ray.get_runtime_context().gcs_address, flush=True)
sys.stdin.read()
"""
JOIN = "import sys, ray; ray.init(address=sys.argv[1], log_to_driver=False); print(len(ray.nodes()))"


def test_the_token_is_for_its_owner_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    keep_token_private()
    token = tmp_path / ".ray" / "auth_token"
    token.parent.mkdir()
    token.write_text("secret")
    token.chmod(0o644)
    keep_token_private()
    assert stat.S_IMODE(token.stat().st_mode) == 0o600


def test_a_port_that_is_taken_is_named_before_anything_starts() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = str(other.getsockname()[1])
        command = [sys.executable, "-m", "excam.cli", "judge", "serve", "--port", port, "--base", "smollm2-135m"]
        done = subprocess.run(
            command, cwd=ROOT, env=_without_ray(), capture_output=True, text=True, timeout=120, check=False
        )
    assert done.returncode == 2
    assert done.stderr.splitlines()[-2:] == [
        f"excam: the judge cannot listen on port {port} of 127.0.0.1: Address already in use",
        "  fix: choose another with --port",
    ]


@pytest.fixture
def address(tmp_path: Path) -> Iterator[str]:
    """A Ray that ExCAM started, for somebody whose home is a folder of the test."""
    with subprocess.Popen(
        [sys.executable, "-c", START],
        cwd=ROOT,
        env=_without_ray() | {"HOME": str(tmp_path)},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout
        assert process.stdin
        yield process.stdout.readline().strip()
        process.stdin.close()


@pytest.mark.system
def test_whoever_has_no_token_is_refused_and_whoever_has_it_may_join(address: str, tmp_path: Path) -> None:
    def join(token: str) -> subprocess.CompletedProcess[str]:
        environment = _without_ray() | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
        given = [sys.executable, "-c", JOIN, address]
        return subprocess.run(given, env=environment, capture_output=True, text=True, timeout=300, check=False)

    file = tmp_path / ".ray" / "auth_token"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    stranger = join("0" * 64)
    assert stranger.returncode
    assert "auth" in stranger.stderr.lower()
    friend = join(file.read_text())
    assert (friend.returncode, friend.stdout.strip()) == (0, "1"), friend.stderr[-2000:]


def _without_ray() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if not name.startswith("RAY_")}
