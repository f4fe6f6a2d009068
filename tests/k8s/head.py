"""A real Ray head as a pod runs it: ``ray start --head`` with Ray's token, on ports of its own."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

from tests.ports import free_ports

TRIES = 6
# On shared cores a node that is slow to answer is not dead.
PATIENT = {"RAY_health_check_failure_threshold": "40", "RAY_health_check_timeout_ms": "60000"}


@dataclass(frozen=True)
class Head:
    """Where a head answers, and what it wants to be told."""

    dashboard: str
    agent: str
    metrics: str
    serve_port: int
    client_port: int
    ray_token: dict[str, str]


@contextmanager
def running_head(environment: Mapping[str, str]) -> Iterator[Head]:
    """A head that is up. Ray gives one up that takes half a minute to start; as a pod would be, it is started anew."""
    for _ in range(TRIES):
        folder = Path(tempfile.mkdtemp(prefix="ray-"))
        process, head = _start(environment, folder)
        try:
            if not _comes_up(process, head):
                print(f"the head ended with {process.poll()}:\n{_said(folder)}")
                continue
            try:
                yield head
            except BaseException as error:
                error.add_note(f"the head ended with {process.poll()}:\n{_said(folder)}")
                raise
            return
        finally:
            _end(process)
            shutil.rmtree(folder, ignore_errors=True)
    raise AssertionError(f"no head came up in {TRIES} tries")


def _start(environment: Mapping[str, str], folder: Path) -> tuple[subprocess.Popen[bytes], Head]:
    gcs, dashboard, agent, client, metrics, http = free_ports(6)
    token = secrets.token_hex(16)
    command = [str(Path(sys.executable).with_name("ray")), "start", "--head", "--block", "--disable-usage-stats"]
    options = {
        "node-ip-address": "127.0.0.1",
        "port": gcs,
        "dashboard-host": "127.0.0.1",
        "dashboard-port": dashboard,
        "dashboard-agent-listen-port": agent,
        "ray-client-server-port": client,
        "metrics-export-port": metrics,
        "num-cpus": 4,
        "object-store-memory": 200 * 2**20,
        "temp-dir": folder,
    }
    given = os.environ | dict(environment) | PATIENT | {"RAY_AUTH_MODE": "token", "RAY_AUTH_TOKEN": token}
    with (folder / "head.log").open("w") as log:
        process = subprocess.Popen(
            [*command, *(f"--{name}={value}" for name, value in options.items())],
            env=given,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    here = "http://127.0.0.1"
    bearer = {"authorization": f"Bearer {token}"}
    head = Head(f"{here}:{dashboard}", f"{here}:{agent}", f"{here}:{metrics}", http, client, bearer)
    return process, head


def _comes_up(process: subprocess.Popen[bytes], head: Head) -> bool:
    """Whether all of it came up: Ray says "started" before its client server is, and ends the head if that gives up."""
    while process.poll() is None:
        with socket.socket() as port:
            if port.connect_ex(("127.0.0.1", head.client_port)) == 0:
                return True
        time.sleep(0.5)
    return False


def _said(folder: Path) -> str:
    logs = [folder / "head.log", *(folder / "session_latest" / "logs").glob("[gr]*.out")]
    return "\n".join(f"{log.name}:\n{log.read_text(errors='replace')[-3000:]}" for log in logs)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End all of it at once: told to end, Ray gives replicas half a minute that no test has a use for."""
    with suppress(psutil.NoSuchProcess):
        head = psutil.Process(process.pid)
        for one in [*head.children(recursive=True), head]:
            with suppress(psutil.NoSuchProcess):
                one.kill()
    process.wait()
