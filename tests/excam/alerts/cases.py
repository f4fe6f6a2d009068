"""Rules to try, and a receiver of alerts."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

from excam.alerts.rules import Rules
from tests.excam.store.outcomes import START

DAY = START.date()


def rules(**rule: Any) -> Rules:
    return Rules.model_validate({"rules": [{"name": "r", **rule}]})


@contextmanager
def webhook(received: list[Any], *answers: int, until: threading.Event | None = None) -> Iterator[str]:
    """A receiver that gives these answers first and then takes everything; it keeps what it took.

    With ``until`` it answers nobody before that event is set.
    """
    planned = list(answers)

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if until is not None:
                until.wait()
            status = planned.pop(0) if planned else 200
            if status == 200:
                received.append(body)
            self.send_response(status)
            if status == 302:
                self.send_header("Location", "/login")
            self.end_headers()

        def do_GET(self) -> None:
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Receiver)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook"
    finally:
        server.shutdown()
        server.server_close()
