"""Which part of the traffic a question is about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any

LONGEST_PLAIN = 100


@dataclass(frozen=True)
class Slice:
    """A stretch of days and, where given, one country, language, app or model; ``until`` itself is not included."""

    since: date | None = None
    until: date | None = None
    country: str | None = None
    language: str | None = None
    app: str | None = None
    model: str | None = None

    def where(self, judge_version: str, named: str = "judge") -> tuple[str, dict[str, Any]]:
        """A condition on verdicts or errors of one judge, and its parameters; ``named`` is what the judge's is called.

        Plain comparisons let DuckLake skip files and row groups. A value that its statistics cannot hold (with NUL, or
        very long) is compared within an expression instead, which it leaves alone.
        """
        conditions = [f"judge_version = ${named}"]
        values: dict[str, Any] = {named: judge_version}
        if self.since is not None:
            conditions.append("logged_at >= $since::DATE::TIMESTAMP::TIMESTAMPTZ")
            values["since"] = self.since.isoformat()
        if self.until is not None:
            conditions.append("logged_at < $until::DATE::TIMESTAMP::TIMESTAMPTZ")
            values["until"] = self.until.isoformat()
        for name in ("country", "language", "app", "model"):
            value = getattr(self, name)
            if value is not None:
                plain = len(value) <= LONGEST_PLAIN and "\0" not in value
                conditions.append(f"{name} = ${name}" if plain else f"{name} || '' = ${name}")
                values[name] = value
        return " AND ".join(conditions), values
