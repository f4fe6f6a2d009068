"""Where the dashboard stands: at the root of a site, or below a prefix such as the one Ray Serve routes by."""

from __future__ import annotations

from starlette.requests import HTTPConnection


def root_of(request: HTTPConnection) -> str:
    """What every address of the dashboard begins with: empty at the root of a site."""
    # A mounted part, such as the static files, has a root of its own; the application's stays beside it.
    scope = request.scope
    return str(scope.get("app_root_path", scope.get("root_path", ""))).rstrip("/")


def path_of(request: HTTPConnection) -> str:
    """The path below the root, which is what routes and rules are about."""
    return str(request.scope["path"]).removeprefix(root_of(request)) or "/"
