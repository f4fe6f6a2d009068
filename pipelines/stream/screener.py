"""The first stage of a stream: messages in, counts and units for the judge out, in an actor that lives as long as it.

Its module loads neither Ray Data nor Ray Serve: a worker that must not wait for them is up in a third of the time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa

from excam.country import country_of
from excam.language import language_of
from excam.outcome import outcome_table
from excam.store import Store
from pipelines.screen import Row, Screening
from pipelines.seen import take_stored_verdicts
from pipelines.stream.budgets import Budget
from pipelines.stream.message import Message
from pipelines.stream.plan import PlannedRange
from pipelines.stream.registry import Registry
from pipelines.stream.screen import screen_message
from pipelines.stream.settings import StreamOptions
from pipelines.units import UNIT_ROWS, Sampling

KNOWN_SECONDS = 600.0  # how long "what was judged before" may be out of date; it costs a second judgement, no more


@dataclass
class PartCount:
    """What a batch held of one partition."""

    messages: int = 0
    bytes: int = 0
    empty: int = 0
    records: int = 0
    skipped: int = 0
    last: int | None = None
    last_timestamp: int | None = None
    first: int | None = None

    def __add__(self, other: PartCount) -> PartCount:
        later = max(self, other, key=lambda one: -1 if one.last is None else one.last)
        return PartCount(
            self.messages + other.messages,
            self.bytes + other.bytes,
            self.empty + other.empty,
            self.records + other.records,
            self.skipped + other.skipped,
            later.last,
            later.last_timestamp,
            min((one.first for one in (self, other) if one.first is not None), default=None),
        )


@dataclass(frozen=True)
class Screened:
    """What screening counted, and the budget as it stands afterwards."""

    parts: dict[int, PartCount]
    rows: int
    budget: str


class Screener:
    """Decodes and screens messages; gives first what it counted, then the units for the judge."""

    def __init__(self, store_url: str, judge_version: str, options: StreamOptions, source: str) -> None:
        self._store_url, self._judge_version = store_url, judge_version
        self._options, self._source = options, source
        self._how = Screening(options.mapping, Sampling(options.share, (), options.always_apps), options.gate)
        self._registry = Registry(options.registry) if options.registry else None
        self._load_known()
        country_of("", "")  # its list of names takes a second or two to load: now, while the first messages are read
        language_of("language")

    def screen(
        self, ranges: Sequence[PlannedRange], budget_state: str, *tables: pa.Table
    ) -> Iterator[Screened | pa.Table]:
        """Screen the messages that lie in the ranges; ``budget_state`` is the budget as the batch before left it."""
        if time.monotonic() - self._known_at > KNOWN_SECONDS:
            self._load_known()
        wanted = {planned.part: planned for planned in ranges}
        counts = {planned.part: PartCount() for planned in ranges}
        rows: list[Row] = []
        for table in tables:
            for raw in table.to_pylist():
                planned = wanted.get(int(raw["partition"]))
                if planned is not None and planned.start <= raw["offset"] < planned.visible:
                    rows += self._screened(Message.of(raw), counts)
        take_stored_verdicts(rows, self._known, self._store_url, self._judge_version)
        options = self._options
        budget = Budget(options.cap_per_hour, options.cap_per_country, options.always_apps)
        budget.load(budget_state)
        kept, _ = budget.apply(rows)
        held = {id(row) for row in kept}
        for row in rows:
            counts[row["part"]].skipped += id(row) not in held
        units = [kept[start : start + UNIT_ROWS] for start in range(0, len(kept), UNIT_ROWS)]
        yield Screened(counts, len(kept), budget.dump() if budget.limited else "")
        for unit in units:
            yield outcome_table(unit)

    def _screened(self, message: Message, counts: Mapping[int, PartCount]) -> list[Row]:
        found = screen_message(message, self._source, self._how, self._registry).rows
        kept = [row for row in found if row is not None]
        count = counts[message.part]
        count.messages += 1
        count.bytes += len(message.value or b"")
        count.empty += message.value is None
        count.records += len(found)
        count.skipped += len(found) - len(kept)
        count.first = message.offset if count.first is None else count.first
        count.last, count.last_timestamp = message.offset, message.timestamp
        return kept

    def _load_known(self) -> None:
        with Store.open(self._store_url, read_only=True) as store:
            self._known = store.known_hashes(self._judge_version)
        self._known_at = time.monotonic()
