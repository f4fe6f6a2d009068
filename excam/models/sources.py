"""What every place that weights come from has in common: its name, its failure, and how it reports progress."""

from __future__ import annotations

from typing import Literal, Protocol

Source = Literal["auto", "folder", "hub", "packages"]


class SourceUnavailableError(Exception):
    """A source could not deliver. Not a user's mistake yet: another source may have the same bytes."""


class Progress(Protocol):
    """Told how a long step goes on; ``total`` is 0 where the size is not known."""

    def __call__(self, step: str, done: int, total: int) -> None: ...


def quiet(step: str, done: int, total: int) -> None:
    """Progress that nobody watches."""
