"""Screening: everything about a record that needs no LLM, so that the judge sees only what it must."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from excam.country import country_of
from excam.language import language_of
from excam.mapping import BadField, RecordMapping
from excam.outcome import Kind
from excam.pair import LoggedPair, sample_position
from excam.relevance import is_cultural
from excam.report import Status
from excam.surface import surface_of
from pipelines.read import Unit, record_json
from pipelines.replayed import JUDGE_STAGE, REPLAY_STAGE, replayed_record
from pipelines.units import Sampling, Section

Row = dict[str, Any]


def screen_unit(unit: Unit, section: Section, mapping: RecordMapping, *, gate: bool) -> tuple[list[Row], int]:
    """The unit's records as outcome rows, and how many were left out by sampling."""
    place = {"source": section.uri, "part": section.group}
    if unit.broken:
        last = unit.first_row + unit.rows - 1
        detail = f"{section.uri}, rows {unit.first_row} to {last} cannot be read: {unit.broken}"
        return [place | {"row": unit.first_row} | dead_letter("read", "unreadable_rows", detail, None)], 0
    rows, skipped = [], 0
    for number, raw in enumerate(unit.records):
        replayed = replayed_record(raw)
        record, origin = replayed or (raw, place | {"row": unit.first_row + number})
        known_form = replayed is not None and raw[REPLAY_STAGE] == JUDGE_STAGE
        pair = (RecordMapping() if known_form else mapping).read(record)
        if isinstance(pair, BadField):
            detail = f"{origin['source']}, row {origin['row']}, {pair}"
            rows.append(origin | dead_letter("map", "bad_field", detail, record_json(record)))
            continue
        row = screen_pair(pair, section.sampling, gate=gate, share_known=record.get("sample_share"))
        if row is None:
            skipped += 1
        else:
            rows.append(origin | row)
    return rows, skipped


def screen_pair(pair: LoggedPair, sampling: Sampling, *, gate: bool, share_known: float | None = None) -> Row | None:
    """What is known of a pair before it is judged; None if the sample leaves it out.

    ``share_known`` is the share under which a stored pair came in, when the store itself is the source.
    """
    position = sample_position(pair.pair_id)
    if share_known is None and position >= sampling.share:
        return None
    country = country_of(pair.instruction, pair.output, pair.country)
    share = share_known if share_known is not None else sampling.of(country.primary)
    if share_known is None and position >= share:
        return None
    language = pair.language or language_of(pair.instruction)
    output_language = language_of(pair.output)
    surface = surface_of(pair.instruction, pair.output, language, output_language)
    row: Row = {
        "kind": Kind.PENDING.value,
        "pair_id": pair.pair_id,
        "content_hash": pair.content_hash,
        "instruction": pair.instruction,
        "output": pair.output,
        "logged_at": pair.logged_at,
        "country": country.primary,
        "countries": list(country.countries),
        "country_how": country.how,
        "language": language,
        "output_language": output_language,
        "app": pair.app,
        "model": pair.model,
        "metadata": pair.metadata_json,
        "wrong_language": surface.wrong_language,
        "repetition": surface.repetition,
        "sample_share": share,
    }
    if gate and not is_cultural(pair.instruction, pair.output):
        row |= {
            "kind": Kind.VERDICT.value,
            "status": Status.NOT_APPLICABLE.value,
            "judged_at": datetime.now(UTC),
            "gated": True,
            "reused": False,
            "guided": False,
            "truncated": False,
        }
    return row


def dead_letter(stage: str, reason: str, detail: str, record: str | None, tries: int = 1) -> Row:
    """The columns of a record that will not be judged: where it stopped, why, and what it was."""
    kept = {"stage": stage, "reason": reason, "detail": detail, "record": record, "tries": tries}
    return {"kind": Kind.DEAD_LETTER.value, **kept}
