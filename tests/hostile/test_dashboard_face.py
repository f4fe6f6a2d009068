"""The dashboard's API against its own OpenAPI description, on a store whose every text is hostile."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, settings
from schemathesis.specs.openapi.checks import allow_header_conformance, negative_data_rejection

from serve.dashboard.access import Access
from serve.dashboard.app import build_dashboard
from serve.dashboard.gate import Gate
from serve.dashboard.pace import Pace
from tests.serve.dashboard.world import fill

FOLDER = tempfile.TemporaryDirectory()
# Starlette names the methods of the first route on a path only; a form's empty field counts as one that is not there.
LEFT_OUT = [allow_header_conformance, negative_data_rejection]
URL = f"ducklake:sqlite:{FOLDER.name}/catalog.sqlite"
LOCAL = {"host": "127.0.0.1"}


@pytest.fixture(scope="module", autouse=True)
def _filled() -> None:
    fill(URL)


def in_a_hurry(app: Any) -> Any:
    """The dashboard for a client that asks faster than it usually allows."""
    for layer in app.user_middleware:
        if layer.cls is Gate:
            layer.kwargs["pace"] = Pace(burst=10**9)
    return app


@asynccontextmanager
async def staying_open(app: Any) -> AsyncIterator[None]:
    """Each of these requests counts as a life of the application, at the end of which it would close its store."""
    yield


app = in_a_hurry(build_dashboard(URL, Access({})))
app.router.lifespan_context = staying_open
schema: Any = schemathesis.openapi.from_asgi("/openapi.json", app, headers=LOCAL)


@schema.parametrize()  # type: ignore[untyped-decorator]
@settings(max_examples=4, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
def test_every_answer_is_one_that_the_description_names(case: Any) -> None:
    case.call_and_validate(headers=LOCAL, excluded_checks=LEFT_OUT, timeout=300)
