"""Signing in from a browser: the token is asked for once and kept in a cookie that no script can read."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request
from starlette.responses import RedirectResponse, Response

from serve.dashboard.access import Access
from serve.dashboard.gate import COOKIE
from serve.dashboard.pages import render
from serve.dashboard.place import root_of

router = APIRouter(include_in_schema=False)

HOURS = 12


@router.get("/login")
def ask(request: Request, next: str = "") -> Response:
    return render(request, "login.html", next=next, wrong=False)


@router.post("/login")
def sign_in(request: Request, token: Annotated[str, Form()], next: Annotated[str, Form()] = "") -> Response:
    access: Access = request.app.state.access
    if access.who(token) is None:
        return render(request, "login.html", 401, next=next, wrong=True)
    answer = RedirectResponse(inside(next, root_of(request)), 303)
    answer.set_cookie(
        COOKIE,
        token.strip(),
        max_age=HOURS * 3600,
        path=root_of(request) or "/",  # whatever else is served on this host gets no token of ours
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
    return answer


def inside(address: str, root: str) -> str:
    """Only pages of this dashboard: an address that leads elsewhere leads to the overview."""
    is_path = address.startswith(f"{root}/") and not address.startswith(("//", "/\\")) and address.isprintable()
    return address if is_path else f"{root}/"
