"""What every route needs: the store, handed over by the application it belongs to."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request
from pydantic import Field

from serve.dashboard.source import StoreSource


def _source(request: Request) -> StoreSource:
    source: StoreSource = request.app.state.source
    return source.now()


Source = Annotated[StoreSource, Depends(_source)]

Id = Annotated[str, Field(max_length=64 * 1024)]
"""A name as the store keeps it. The bound is the body's own; having one makes pydantic refuse half a character."""
