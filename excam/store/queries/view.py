"""What a reader looks at: a slice of the traffic, one judge, and which of its findings count as errors."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from excam.store.queries.judges import JudgeUse
from excam.store.queries.slice import Slice


@dataclass(frozen=True)
class View:
    """A slice and a judge, and what counts as an error in it.

    Without more it is every pair the judge found an error in. ``category`` and ``severity`` ask for pairs that hold
    such an error, ``p_error`` for those the judge was at least this sure of. The pairs a rate is measured against stay
    the same, so that rates of two views can be compared. ``judge`` is a version or its beginning, None for the one used
    last, or the judge itself where somebody has looked it up already.
    """

    part: Slice = field(default_factory=Slice)
    judge: str | JudgeUse | None = None
    category: str | None = None
    severity: str | None = None
    p_error: float | None = None

    def where(self, judge_version: str, named: str = "judge") -> tuple[str, str, dict[str, Any]]:
        """A condition on rows, a condition that tells whether such a verdict counts as an error, and parameters."""
        where, values = self.part.where(judge_version, named)
        wrong = ["status = 'error'"]
        if self.p_error is not None:
            wrong.append("p_error >= $p_error")
            values["p_error"] = self.p_error
        held = []
        for name in ("category", "severity"):
            value = getattr(self, name)
            if value is not None:
                held.append(f"{name} || '' = ${name}")
                values[name] = value
        if held:
            wrong.append(f"pair_key IN (SELECT pair_key FROM lake.errors WHERE {where} AND {' AND '.join(held)})")
        return where, " AND ".join(wrong), values
