"""Headers that keep logged text from becoming anything but text, on every answer."""

from __future__ import annotations

from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from serve.dashboard.place import path_of

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)

HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def protect(headers: MutableHeaders, *, may_be_kept: bool = False) -> None:
    """Set the headers of one answer; only what holds no logged text may be kept by a browser."""
    for name, value in HEADERS.items():
        headers[name] = value
    if not may_be_kept:
        headers["Cache-Control"] = "no-store"


class SafeHeaders:
    """ASGI middleware: no inline script or style, nothing from elsewhere, no framing, no caching of logged text."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        is_static = path_of(HTTPConnection(scope)).startswith("/static/")

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                protect(MutableHeaders(scope=message), may_be_kept=is_static)
            await send(message)

        await self._app(scope, receive, guarded)
