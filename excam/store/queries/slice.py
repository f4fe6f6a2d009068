"""Which part of the traffic a question is about."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Any


@dataclass(frozen=True)
class Slice:
    """A stretch of days and, where given, one country, language, app or model; ``until`` itself is not included."""

    since: date | None = None
    until: date | None = None
    country: str | None = None
    language: str | None = None
    app: str | None = None
    model: str | None = None

    def where(self, judge_version: str) -> tuple[str, dict[str, Any]]:
        """A condition on verdicts or errors of one judge, and its parameters.

        Days and the judge are compared as they are stored, which lets DuckLake skip whole files. The other columns are
        wrapped in an expression: they may hold any character, and one that a file's statistics cannot hold must not
        decide which files are read.
        """
        conditions = ["judge_version = $judge"]
        values: dict[str, Any] = {"judge": judge_version}
        if self.since is not None:
            conditions.append("logged_at >= $since::DATE::TIMESTAMP::TIMESTAMPTZ")
            values["since"] = self.since.isoformat()
        if self.until is not None:
            conditions.append("logged_at < $until::DATE::TIMESTAMP::TIMESTAMPTZ")
            values["until"] = self.until.isoformat()
        for name in ("country", "language", "app", "model"):
            value = getattr(self, name)
            if value is not None:
                conditions.append(f"{name} || '' = ${name}")
                values[name] = value
        return " AND ".join(conditions), values
