"""What stands between the network and the judge: a token where one is set, and bounds on what a request may weigh."""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Mapping

from starlette.datastructures import Headers
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from excam.fault import UserError
from serve.schemas import MAX_BODY_BYTES

OPEN_PATHS = ("/-/health",)
PATIENCE = 30.0
TOKEN_VARIABLE = "EXCAM_TOKEN"


def is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def token_in(environment: Mapping[str, str], variable: str = TOKEN_VARIABLE) -> str | None:
    """The token a variable holds, none where it is unset or empty; white space around a token is no part of it."""
    given = environment.get(variable)
    if not given:
        return None
    if not given.strip():
        raise UserError(f"{variable} is set but blank", "set it to a long random string, or do not set it")
    if not is_sendable(given.strip()):
        raise UserError(f"{variable} holds signs that no HTTP header can", "use letters, digits and ASCII signs only")
    return given.strip()


def is_sendable(token: str) -> bool:
    """Whether a client can send the token at all: headers and cookies carry ASCII."""
    return token.isascii() and token.isprintable()


def check_binding(host: str, token: str | None) -> None:
    """A judge that others can reach must ask for a token."""
    if not is_loopback(host) and not token:
        raise UserError(
            f"binding to {host} lets others reach the judge, and no token is set",
            f"set {TOKEN_VARIABLE} to a long random string, or bind to 127.0.0.1",
        )


class Guard:
    """ASGI middleware: 401 without the right token, 413 as soon as a body is too large, declared or not.

    A client that takes longer than ``patience`` seconds to send its body gets 408: else a few that never finish would
    hold everything there is.
    """

    def __init__(
        self, app: ASGIApp, token: str | None, max_body: int = MAX_BODY_BYTES, patience: float = PATIENCE
    ) -> None:
        self._app = app
        self._token = token
        self._max_body = max_body
        self._patience = patience

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        if self._token and scope["path"] not in OPEN_PATHS and not self._authorised(headers):
            answer = JSONResponse({"detail": "a bearer token is required"}, 401, {"WWW-Authenticate": "Bearer"})
            await answer(scope, receive, send)
            return
        try:
            async with asyncio.timeout(self._patience):
                body = await self._body(headers, receive)
        except TimeoutError:
            await JSONResponse({"detail": "the body did not come in time"}, 408)(scope, receive, send)
            return
        except ClientDisconnect:  # half a body may well read like a whole one, and nobody waits for the answer
            return
        if body is None:
            limit = f"the body is larger than {self._max_body:,} bytes; send fewer pairs at once"
            await JSONResponse({"detail": limit}, 413)(scope, receive, send)
            return
        messages: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

        async def replay() -> Message:
            return messages.pop() if messages else await receive()

        await self._app(scope, replay, send)

    def _authorised(self, headers: Headers) -> bool:
        scheme, _, given = headers.get("authorization", "").partition(" ")
        expected = (self._token or "").encode()
        return scheme.lower() == "bearer" and hmac.compare_digest(given.strip().encode(), expected)

    async def _body(self, headers: Headers, receive: Receive) -> bytes | None:
        declared = headers.get("content-length", "0")
        if not (declared.isascii() and declared.isdigit()) or int(declared[:20]) > self._max_body:
            return None
        body = bytearray()
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            body += message.get("body", b"")
            if len(body) > self._max_body:
                return None
            if not message.get("more_body"):
                return bytes(body)
