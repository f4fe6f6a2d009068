"""Screening of a log's unit: plain records, and dead letters that are tried again in the form they were kept in."""

from __future__ import annotations

from excam.mapping import RecordMapping
from pipelines.read import Unit
from pipelines.replayed import PAIR_STAGES, REPLAY_STAGE, replayed_record
from pipelines.screen import Row, Screening, dead_letter, screen_record
from pipelines.stream.message import message_of
from pipelines.stream.registry import Registry
from pipelines.stream.screen import screen_message
from pipelines.units import Section


def screen_unit(
    unit: Unit, section: Section, mapping: RecordMapping, *, gate: bool, registry: Registry | None = None
) -> tuple[list[Row], int]:
    """The unit's records as outcome rows, and how many were left out by sampling."""
    place = {"source": section.uri, "part": section.group}
    if unit.broken:
        last = unit.first_row + unit.rows - 1
        detail = f"{section.uri}, rows {unit.first_row} to {last} cannot be read: {unit.broken}"
        return [place | {"row": unit.first_row} | dead_letter("read", "unreadable_rows", detail, None)], 0
    rows: list[Row | None] = []
    for number, raw in enumerate(unit.records):
        replayed = replayed_record(raw) if section.own else None
        record, origin = replayed or (raw, place | {"row": unit.first_row + number})
        message = message_of(record) if replayed else None
        if message is not None:
            how = Screening(mapping, section.sampling, gate, share_known=message[1].get("sample_share"))
            screened = screen_message(message[0], str(origin["source"]), how, registry).rows
            # A message that can be read now may hold several records: the first has its place and so its letter.
            rows.extend(origin | row if row and row["source"] == origin["source"] else row for row in screened)
            continue
        known_form = replayed is not None and raw[REPLAY_STAGE] in PAIR_STAGES
        stored = known_form or (section.own and not replayed)
        how = Screening(
            RecordMapping() if known_form else mapping,
            section.sampling,
            gate,
            share_known=record.get("sample_share") if stored else None,
        )
        rows.append(screen_record(record, origin, how))
    kept = [row for row in rows if row is not None]
    return kept, len(rows) - len(kept)
