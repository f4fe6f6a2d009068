"""Numbers on the command line."""

from __future__ import annotations

import math
from typing import Any

import click


class Within(click.FloatRange):
    """A number between bounds; infinity is refused, and ``nan``, which is beyond no bound."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        found = super().convert(value, param, ctx)
        if not math.isfinite(found):
            self.fail(f"{value} is no number to go by", param, ctx)
        return found
