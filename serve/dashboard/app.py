"""The dashboard as one FastAPI application: API, pages, static files, and what is said when something goes wrong."""

from __future__ import annotations

import logging
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.exceptions import HTTPException
from starlette.middleware.gzip import GZipMiddleware
from starlette.responses import JSONResponse, Response
from starlette.staticfiles import StaticFiles

from excam.fault import UserError
from serve.dashboard import login, pages, reading
from serve.dashboard.access import Access
from serve.dashboard.api import alerts, export, rates, records, reports, reviews
from serve.dashboard.audit import Audit
from serve.dashboard.gate import Gate
from serve.dashboard.place import path_of
from serve.dashboard.security import SafeHeaders, protect
from serve.dashboard.source import StoreSource, StoreUnreachableError
from serve.guard import Guard

MAX_FORM = 64 * 1024
LONGEST_WARMING = 15.0  # seconds for which an end waits for it; a store that cannot be reached is given up before


class Problem(BaseModel):
    """What the API says when it does not answer: what is wrong and, where known, what to do about it."""

    detail: str
    fix: str = ""


PROBLEMS: dict[int | str, dict[str, Any]] = {
    status: {"model": Problem, "description": said}
    for status, said in (
        (400, "The body cannot be read."),
        (401, "A token is required."),
        (403, "Not from here, or not with this token."),
        (404, "There is no such thing."),
        (408, "The body did not come in time."),
        (413, "The body is too large."),
        (422, "A value has another form."),
        (429, "Too many requests."),
        (503, "The store cannot be reached."),
    )
}

log = logging.getLogger("excam.dashboard")


def build_dashboard(store_url: str, access: Access, audit: Audit | None = None, *, warm: bool = False) -> FastAPI:
    """The application on one store, which need not be reachable yet; ``warm`` gets the first page ready beforehand."""

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        warming = threading.Thread(target=pages.warm, args=(app.state.source,), daemon=True, name="excam-warm")
        if warm:
            warming.start()
        yield
        if warm:  # a thread inside the database when the process ends would abort it
            warming.join(LONGEST_WARMING)
        app.state.source.close()

    # The usual /docs page takes its scripts from a CDN, so only the description itself is served.
    app = FastAPI(
        title="ExCAM dashboard", version="1", docs_url=None, redoc_url=None, lifespan=lifespan, responses=PROBLEMS
    )
    app.state.source = StoreSource(store_url)
    app.state.access = access
    app.state.audit = audit or Audit()
    for module in (rates, export, reports, records, reviews, alerts, login, pages, reading):
        app.include_router(module.router)
    app.mount("/static", StaticFiles(directory=Path(__file__).parent / "static"))
    app.get("/-/health")(health)
    app.add_exception_handler(UserError, _mistake)
    app.add_exception_handler(StoreUnreachableError, _unreachable)
    app.add_exception_handler(RequestValidationError, _bad_request)
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(Exception, _defect)
    app.add_middleware(GZipMiddleware, minimum_size=2000)
    app.add_middleware(Gate, access=access)
    app.add_middleware(Guard, token=None, max_body=MAX_FORM)
    app.add_middleware(SafeHeaders)
    return app


async def health() -> dict[str, str]:
    """Answered without a thread: readers may have taken them all while they wait for the store."""
    return {"status": "ok"}


def _say(request: Request, status: int, title: str, message: str, fix: str = "") -> Response:
    """An answer in the form that was asked for: JSON from the API, a page from a page."""
    if path_of(request).startswith("/api/"):
        return JSONResponse({"detail": message, "fix": fix}, status)
    return pages.render(request, "message.html", status, title=title, message=message, fix=fix)


def _mistake(request: Request, error: Exception) -> Response:
    assert isinstance(error, UserError)
    if "no verdicts yet" in error.message:
        fix = "Judge some logs first: excam score LOGS"
        return _say(request, 404, "Nothing to show yet", "This store holds no verdicts yet.", fix)
    return _say(request, 404, "Not found", error.message)


def _unreachable(request: Request, error: Exception) -> Response:
    fix = "Try again in a moment; whoever runs this dashboard finds the reason in its log."
    return _say(request, 503, "The store cannot be reached", "The store cannot be reached right now.", fix)


def _bad_request(request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    wrong = "; ".join(f"{_place(problem['loc'])}: {problem['msg']}" for problem in error.errors())
    return _say(request, 422, "This address cannot be read", wrong)


def _place(found: Sequence[str | int]) -> str:
    """The field that is wrong, without the part of the request it stands in."""
    return ".".join(map(str, found[1:] or found))


def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    answer = _say(request, error.status_code, "Not found" if error.status_code == 404 else "Refused", str(error.detail))
    answer.headers.update(error.headers or {})
    return answer


def _defect(request: Request, error: Exception) -> Response:
    """The last resort. Starlette answers here from outside of all middleware, so the headers are set here as well."""
    log.error("a request failed", exc_info=error)
    answer = _say(request, 500, "Something went wrong", "The dashboard failed on this request; its log says why.")
    protect(answer.headers)
    return answer
