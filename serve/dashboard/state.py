"""What every route needs: the store, handed over by the application it belongs to."""

from __future__ import annotations

from typing import Annotated

from fastapi import Depends, Request

from serve.dashboard.source import StoreSource


def _source(request: Request) -> StoreSource:
    source: StoreSource = request.app.state.source
    return source.now()


Source = Annotated[StoreSource, Depends(_source)]
