"""Caps on what is judged an hour, in all and by country, without spoiling the rates.

Hours are those of the log, so a backlog read in one go is sampled as it would have been live, and a new judge that
reads the same topic draws as much. Within an hour the cap is given out evenly. Where a batch holds more than may be
judged, those with the smallest hash are, and each stands for as many as it was drawn from: its share says so. Pairs of
a batch for which nothing was left are owed, and the next ones judged of that hour and country stand for them too.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from excam.outcome import Kind
from excam.pair import sample_position

Row = dict[str, Any]

EVERYWHERE = "*"
HOURS_KEPT = 48


@dataclass
class Budget:
    """What may still be judged. Its state moves with the offsets: it is stored in the same commit."""

    per_hour: int | None = None
    per_country: int | None = None
    always_apps: tuple[str, ...] = ()
    spent: dict[str, dict[str, list[int]]] = field(default_factory=dict)  # hour: country: [judged, owed]

    @property
    def limited(self) -> bool:
        return self.per_hour is not None or self.per_country is not None

    def dump(self) -> str:
        """The state as text; hours long past are forgotten."""
        kept = sorted(self.spent)[-HOURS_KEPT:]
        return json.dumps({hour: self.spent[hour] for hour in kept})

    def load(self, state: str) -> None:
        self.spent = json.loads(state) if state else {}

    def apply(self, rows: list[Row]) -> tuple[list[Row], int]:
        """The rows that go on, and how many the caps leave out. Only what needs the judge counts against a cap."""
        if not self.limited:
            return rows, 0
        costly = [row for row in rows if row["kind"] == Kind.PENDING.value and row["app"] not in self.always_apps]
        dropped: set[int] = set()
        for cap, by_country in ((self.per_country, True), (self.per_hour, False)):
            if cap is not None:
                left = [row for row in costly if id(row) not in dropped]
                dropped |= {id(row) for row in self._over(left, cap, by_country=by_country)}
        return [row for row in rows if id(row) not in dropped], len(dropped)

    def _over(self, rows: list[Row], cap: int, *, by_country: bool) -> Iterable[Row]:
        groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
        newest: dict[str, datetime] = {}
        for row in rows:
            hour = f"{row['logged_at']:%Y-%m-%dT%H}"
            groups[hour, (row["country"] or "") if by_country else EVERYWHERE].append(row)
            newest[hour] = max(newest.get(hour, row["logged_at"]), row["logged_at"])
        latest = max([*newest, *self.spent], default="")
        for (hour, key), group in groups.items():
            judged, owed = self.spent.setdefault(hour, {}).get(key, [0, 0])
            moment = newest[hour]
            elapsed = 1.0 if hour < latest else (moment.minute * 60 + moment.second + 1) / 3600
            allowed = min(len(group), max(0, math.ceil(cap * elapsed) - judged))
            ranked = sorted(group, key=lambda row: sample_position(row["pair_id"]))
            for row in ranked[:allowed]:
                row["sample_share"] *= allowed / (len(group) + owed)
            self.spent[hour][key] = [judged + allowed, 0 if allowed else owed + len(group)]
            yield from ranked[allowed:]
