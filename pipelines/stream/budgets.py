"""Caps on what is judged an hour, in all and by country, without spoiling the rates.

Hours are those of the log, so a backlog read in one go is sampled as it would have been live, and a new judge that
reads the same topic draws as much. Within an hour the cap is given out evenly. Where a batch holds more than may be
judged, those with the smallest hash are, and each stands for as many as it was drawn from: its share says so. Pairs of
a batch for which nothing was left are owed, and the next ones judged of that hour and country stand for them too.

Messages do not come in the order of their hours: a partition may be days behind another, and clocks may run ahead. So
hours are forgotten by when they were last read, and none is taken to be over because of one that has not begun.
"""

from __future__ import annotations

import json
import math
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from excam.outcome import Kind
from excam.pair import sample_position

Row = dict[str, Any]

EVERYWHERE = "*"
HOUR = "%Y-%m-%dT%H"
HOURS_KEPT = 48  # besides those of the batch in hand


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
        """The state as text; its hours are in the order in which they were last read."""
        return json.dumps(self.spent)

    def load(self, state: str) -> None:
        self.spent = json.loads(state) if state else {}

    def apply(self, rows: list[Row]) -> tuple[list[Row], int]:
        """The rows that go on, and how many the caps leave out. Only what needs the judge counts against a cap."""
        if not self.limited:
            return rows, 0
        costly = [row for row in rows if row["kind"] == Kind.PENDING.value and row["app"] not in self.always_apps]
        self._remember({_hour(row) for row in costly})
        dropped: set[int] = set()
        for cap, by_country in ((self.per_country, True), (self.per_hour, False)):
            if cap is not None:
                left = [row for row in costly if id(row) not in dropped]
                dropped |= {id(row) for row in self._over(left, cap, by_country=by_country)}
        return [row for row in rows if id(row) not in dropped], len(dropped)

    def _remember(self, hours: set[str]) -> None:
        """Put the hours of this batch last, and forget those that were not read for long."""
        others = [hour for hour in self.spent if hour not in hours][-HOURS_KEPT:]
        self.spent = {hour: self.spent.get(hour, {}) for hour in (*others, *sorted(hours))}

    def _over(self, rows: list[Row], cap: int, *, by_country: bool) -> Iterable[Row]:
        groups: dict[tuple[str, str], list[Row]] = defaultdict(list)
        newest: dict[str, datetime] = {}
        for row in rows:
            hour = _hour(row)
            groups[hour, (row["country"] or "") if by_country else EVERYWHERE].append(row)
            newest[hour] = max(newest.get(hour, row["logged_at"]), row["logged_at"])
        now = f"{datetime.now(UTC):{HOUR}}"
        latest = max((hour for hour in self.spent if hour <= now), default="")
        for (hour, key), group in groups.items():
            judged, owed = self.spent[hour].get(key, [0, 0])
            moment = newest[hour]
            elapsed = 1.0 if hour < latest else (moment.minute * 60 + moment.second + 1) / 3600
            allowed = min(len(group), max(0, math.ceil(cap * elapsed) - judged))
            ranked = sorted(group, key=lambda row: sample_position(row["pair_id"]))
            for row in ranked[:allowed]:
                row["sample_share"] *= allowed / (len(group) + owed)
            self.spent[hour][key] = [judged + allowed, 0 if allowed else owed + len(group)]
            yield from ranked[allowed:]


def _hour(row: Row) -> str:
    return f"{row['logged_at']:{HOUR}}"
