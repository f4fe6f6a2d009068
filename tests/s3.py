"""A real S3 server for tests: Versity's gateway, built once from its Go module and kept; it serves a folder.

It checks signatures, takes uploads in parts, serves ranges, and refuses a wrong key. Nothing outlives the test.
"""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from excam.models.cache import cache_root
from tests.ports import free_port

MODULE = "github.com/versity/versitygw/cmd/versitygw@v1.8.0"
START_SECONDS = 60.0


@dataclass(frozen=True)
class Bucket:
    """A running server with one empty bucket, which lies in ``folder`` as ordinary files."""

    address: str
    folder: Path
    environment: dict[str, str]


def gateway() -> Path:
    """The server's binary; Go builds it when it was never built before, which takes minutes."""
    if shutil.which("go") is None:
        raise RuntimeError("tests with object storage need Go 1.25 or later")
    binary = cache_root() / "s3" / MODULE.rpartition("@")[2] / "versitygw"
    if not binary.is_file():
        binary.parent.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(dir=binary.parent))
        subprocess.run(
            ["go", "install", MODULE], check=True, env=os.environ | {"GOBIN": str(making), "CGO_ENABLED": "0"}
        )
        os.replace(making / binary.name, binary)
        making.rmdir()
    return binary


@contextmanager
def running_s3() -> Iterator[Bucket]:
    """The server on loopback with keys of its own, until the block ends."""
    with tempfile.TemporaryDirectory() as place:
        root = Path(place) / "root"
        root.mkdir()
        keys = {"ROOT_ACCESS_KEY": "excam", "ROOT_SECRET_KEY": secrets.token_hex(16)}
        port = free_port()
        with (Path(place) / "log").open("wb") as log:
            server = subprocess.Popen(
                [gateway(), "--quiet", "--port", f"127.0.0.1:{port}", "posix", root],
                env=os.environ | keys,
                stdout=log,
                stderr=log,
            )
        try:
            _wait_until_ready(port, server, Path(place) / "log")
            environment = {
                "AWS_ACCESS_KEY_ID": keys["ROOT_ACCESS_KEY"],
                "AWS_SECRET_ACCESS_KEY": keys["ROOT_SECRET_KEY"],
                "AWS_REGION": "us-east-1",
                "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
                "AWS_EC2_METADATA_DISABLED": "true",
            }
            yield Bucket("s3://excam", root / "excam", environment)
        finally:
            server.terminate()
            server.wait(timeout=30)


def _wait_until_ready(port: int, server: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
            return
        except OSError:
            if server.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"the S3 server did not start:\n{log.read_text()[-2000:]}") from None
            time.sleep(0.05)
