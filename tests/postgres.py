"""A real PostgreSQL for tests, started from the system's package on a free loopback port with a password of its own."""

from __future__ import annotations

import os
import pwd
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.ports import free_port

USER = "excam"


@dataclass(frozen=True)
class Postgres:
    """A running server; every test makes a database of its own."""

    port: int
    password: str
    binaries: Path

    def database(self, name: str = "", template: str = "template0") -> str:
        """A new database, empty or the copy of another, as a connection string without the password."""
        name = name or f"db_{secrets.token_hex(6)}"
        command: list[str | Path] = [
            self.binaries / "createdb",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-U",
            USER,
            "-T",
            template,
            name,
        ]
        subprocess.run(command, check=True, env=os.environ | {"PGPASSWORD": self.password})
        return f"host=127.0.0.1 port={self.port} user={USER} dbname={name}"

    def run(self, database: str, statements: str) -> None:
        """Have the server's owner run statements in a database, given as its connection string."""
        command: list[str | Path] = [self.binaries / "psql", "-q", "-v", "ON_ERROR_STOP=1", "-c", statements, database]
        subprocess.run(command, check=True, env=os.environ | {"PGPASSWORD": self.password})


@contextmanager
def running_postgres() -> Iterator[Postgres]:
    """Make a cluster in a temporary folder, start it, and leave nothing behind."""
    binaries = _binaries()
    folder = Path(tempfile.mkdtemp(prefix="excam-postgres-"))
    password = secrets.token_urlsafe(12)
    (folder / "password").write_text(password)
    owner: dict[str, Any] = {}
    if os.geteuid() == 0:  # the server refuses to run as root
        account = pwd.getpwnam("postgres")
        owner = {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
        for path in (folder, folder / "password"):
            os.chown(path, account.pw_uid, account.pw_gid)
    data = folder / "data"
    options = ["--auth=scram-sha-256", f"--username={USER}", f"--pwfile={folder / 'password'}", "--encoding=UTF8"]
    initialise: list[str | Path] = [binaries / "initdb", "-D", data, "--no-sync", "--locale=C.UTF-8", *options]
    subprocess.run(initialise, check=True, stdout=subprocess.DEVNULL, cwd="/", **owner)
    port = free_port()
    settings = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": ""}
    settings |= dict.fromkeys(("fsync", "full_page_writes", "synchronous_commit"), "off")  # nothing here is kept
    arguments = [f"-c{name}={value}" for name, value in settings.items()]
    with (folder / "log").open("w") as log:
        server = subprocess.Popen([binaries / "postgres", "-D", data, *arguments], stderr=log, cwd="/", **owner)
    try:
        _wait_until_ready(binaries, port, server, folder / "log")
        yield Postgres(port, password, binaries)
    finally:
        server.send_signal(signal.SIGQUIT)  # at once: neither clients nor files that are deleted next are waited for
        server.wait(timeout=30)
        shutil.rmtree(folder)


def _binaries() -> Path:
    found = shutil.which("initdb")
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb")) if found is None else [Path(found).resolve()]
    if not folders:
        raise RuntimeError("PostgreSQL's server is not installed; install it with: apt-get install -y postgresql")
    return folders[-1].parent


def _wait_until_ready(binaries: Path, port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 120
    ask: list[str | Path] = [binaries / "pg_isready", "-q", "-h", "127.0.0.1", "-p", str(port)]
    while subprocess.run(ask, check=False).returncode != 0:
        if server.poll() is not None or time.monotonic() > deadline:
            raise RuntimeError(f"PostgreSQL did not start:\n{log.read_text()[-2000:]}")
        time.sleep(0.05)
