"""The door: who asks, whether a write comes from our own page, and whether somebody asks too much."""

from __future__ import annotations

from urllib.parse import quote, urlsplit

from starlette.requests import Request, cookie_parser
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from serve.dashboard.access import Access, Person
from serve.dashboard.pace import Pace
from serve.dashboard.place import path_of, root_of
from serve.guard import is_loopback

COOKIE = "excam_token"
OPEN_PATHS = ("/-/health", "/login")


class Gate:
    """ASGI middleware. It leaves the :class:`Person` who asks in the request's state.

    Without tokens only this machine may ask, and only by a loopback name: a page elsewhere cannot reach the dashboard
    by pointing a name of its own at this machine. Writes must come from the dashboard's own pages or carry a token.
    """

    def __init__(self, app: ASGIApp, access: Access, pace: Pace | None = None) -> None:
        self._app = app
        self._access = access
        self._pace = pace or Pace()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        request = Request(scope)
        refused = self._refusal(request)
        await (refused or self._app)(scope, receive, send)

    def _refusal(self, request: Request) -> Response | None:
        path = path_of(request)
        if not path.startswith("/static/"):
            wait = self._pace.wait(request.client.host if request.client else "")
            if wait > 0:
                return _no(429, "too many requests; wait a little", {"Retry-After": str(int(wait) + 1)})
        if self._access.is_open and not is_loopback(request.url.hostname or ""):
            return _no(403, "this dashboard answers on this machine only")
        if request.method not in ("GET", "HEAD") and not _is_own(request):
            return _no(403, "this request does not come from the dashboard's own page")
        if path in OPEN_PATHS or path.startswith("/static/"):
            return None
        person = self._person(request)
        if person is None:
            if path.startswith("/api/") or request.method != "GET":
                return _no(401, "a token is required", {"WWW-Authenticate": "Bearer"})
            back = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            return RedirectResponse(f"{root_of(request)}/login?next={quote(back, safe='')}", 303)
        request.state.person = person
        return None

    def _person(self, request: Request) -> Person | None:
        if self._access.is_open:
            return self._access.local()
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        return self._access.who(token if scheme.lower() == "bearer" else _cookie(request))


def _cookie(request: Request) -> str:
    """The token in our cookie; of several on one host the one for the longest path, which browsers send first."""
    parts = ";".join(request.headers.getlist("cookie")).split(";")
    return next((found[COOKIE] for part in parts if COOKIE in (found := cookie_parser(part))), "")


def _is_own(request: Request) -> bool:
    """Whether a write comes from our own page, or from a program, which browsers cannot pretend to be."""
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None:
        return site in ("same-origin", "none")
    return origin is None or urlsplit(origin).netloc == request.headers.get("host")


def _no(status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse({"detail": detail}, status, headers)
