from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from excam.dataset import generator
from excam.dataset.generator import GenerationFailure, HttpGenerator
from excam.fault import UserError

Reply = Callable[[dict[str, Any]], tuple[int, bytes]]


def _completion(text: str) -> bytes:
    return json.dumps({"choices": [{"message": {"role": "assistant", "content": text}}]}).encode()


class Server(ThreadingHTTPServer):
    """A chat-completions server whose answers a test decides; it keeps what it was asked."""

    def __init__(self) -> None:
        self.reply: Reply = lambda body: (200, _completion(body["messages"][0]["content"].upper()))
        self.asked: list[dict[str, Any]] = []
        self.paths: list[str] = []
        self.keys: list[str | None] = []
        super().__init__(("127.0.0.1", 0), Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"


class Handler(BaseHTTPRequestHandler):
    server: Server

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(body)
        self.server.paths.append(self.path)
        self.server.keys.append(self.headers["Authorization"])
        status, answer = self.server.reply(body)
        self.send_response(status)
        self.end_headers()
        self.wfile.write(answer)

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setattr(generator, "_WAITS", (0.01, 0.01))
    found = Server()
    thread = threading.Thread(target=found.serve_forever, args=(0.01,))
    thread.start()
    yield found
    found.shutdown()
    thread.join()
    found.server_close()


def test_texts_come_back_in_the_order_of_their_prompts(server: Server) -> None:
    model = HttpGenerator(server.url, "m", api_key="secret", concurrency=4)
    assert model.generate([f"prompt {number}" for number in range(20)]) == [f"PROMPT {number}" for number in range(20)]
    assert set(server.paths) == {"/v1/chat/completions"}
    assert set(server.keys) == {"Bearer secret"}
    assert {body["model"] for body in server.asked} == {"m"}


def test_a_busy_server_is_asked_again(server: Server) -> None:
    turns = iter([503, 429, 200])
    server.reply = lambda body: (next(turns), _completion("done"))
    assert HttpGenerator(server.url, "m").generate(["x"]) == ["done"]


def test_a_server_that_stays_busy_is_a_value_not_an_exception(server: Server) -> None:
    server.reply = lambda body: (503, b"")
    (found,) = HttpGenerator(server.url, "m").generate(["x"])
    assert isinstance(found, GenerationFailure)
    assert "503" in found.reason
    assert found.unreachable
    assert len(server.asked) == 3


@pytest.mark.parametrize(
    "answer", [b"", b"<html>", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"content": null}}]}']
)
def test_what_is_no_completion_is_a_value_and_is_not_asked_again(server: Server, answer: bytes) -> None:
    server.reply = lambda body: (200, answer)
    (found,) = HttpGenerator(server.url, "m").generate(["x"])
    assert isinstance(found, GenerationFailure)
    assert len(server.asked) == 1


def test_a_wrong_key_ends_the_run_with_its_fix(server: Server) -> None:
    server.reply = lambda body: (401, b"")
    with pytest.raises(UserError, match="API key"):
        HttpGenerator(server.url, "m").generate(["x"])


def test_a_server_that_is_not_there_is_a_value(server: Server) -> None:
    (found,) = HttpGenerator("http://127.0.0.1:9/v1", "m").generate(["x"])
    assert isinstance(found, GenerationFailure)
