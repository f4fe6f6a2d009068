"""Screening: everything about a record that needs no LLM, so that the judge sees only what it must."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from excam.country import country_of
from excam.injection import METADATA_KEY, speaks_to_judge
from excam.language import language_of
from excam.mapping import BadField, RecordMapping
from excam.outcome import Kind
from excam.pair import LoggedPair, sample_position
from excam.relevance import is_cultural
from excam.report import Status
from excam.surface import surface_of
from pipelines.read import record_json
from pipelines.units import Sampling

Row = dict[str, Any]


@dataclass(frozen=True)
class Screening:
    """How records are screened: whose columns they have, which of them count, and whether the gate is asked.

    ``share_known`` is the share under which a stored pair came in, when the store itself is the source.
    """

    mapping: RecordMapping
    sampling: Sampling
    gate: bool
    share_known: float | None = None


def screen_record(record: Mapping[str, Any], origin: Row, how: Screening, received_at: int | None = None) -> Row | None:
    """One record as an outcome row, a dead letter where it is no pair; None if the sample leaves it out."""
    pair = how.mapping.read(record, received_at)
    if isinstance(pair, BadField):
        detail = f"{origin['source']}, row {origin['row']}, {pair}"
        return origin | dead_letter("map", "bad_field", detail, record_json(how.mapping.kept(record)))
    row = screen_pair(pair, how.sampling, gate=how.gate, share_known=how.share_known)
    return None if row is None else origin | row


def screen_pair(pair: LoggedPair, sampling: Sampling, *, gate: bool, share_known: float | None = None) -> Row | None:
    """What is known of a pair before it is judged; None if the sample leaves it out.

    ``share_known`` is the share under which a stored pair came in, when the store itself is the source.
    """
    position = sample_position(pair.pair_id)
    always = pair.app is not None and pair.app in sampling.always_apps
    share_known = 1.0 if always else share_known
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
        "metadata": _marked(pair).metadata_json,
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


def _marked(pair: LoggedPair) -> LoggedPair:
    """The pair with a note in its metadata where its text speaks to the judge."""
    found = speaks_to_judge(pair.instruction, pair.output)
    return pair.model_copy(update={"metadata": pair.metadata | {METADATA_KEY: found}}) if found else pair


def dead_letter(stage: str, reason: str, detail: str, record: str | None, tries: int = 1) -> Row:
    """The columns of a record that will not be judged: where it stopped, why, and what it was."""
    kept = {"stage": stage, "reason": reason, "detail": detail, "record": record, "tries": tries}
    return {"kind": Kind.DEAD_LETTER.value, **kept}
