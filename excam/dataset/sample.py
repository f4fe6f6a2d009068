"""One row of ExCAM40k: an instruction, an output, and the report the judge must write about them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

import pyarrow as pa

from excam.dataset.draw import fingerprint
from excam.dataset.item import Item
from excam.report import ErrorReport, Status


class Origin(StrEnum):
    """Where an error came from: a wrong answer of the source, an LLM, a rule, or nowhere because there is none."""

    HARD = "hard"
    SOFT_LLM = "soft-llm"
    SOFT_RULE = "soft-rule"
    NONE = "none"


SCHEMA = pa.schema(
    [
        pa.field("sample_id", pa.string(), nullable=False),
        pa.field("item_id", pa.string(), nullable=False),
        pa.field("source", pa.string(), nullable=False),
        pa.field("task", pa.string(), nullable=False),
        pa.field("instruction", pa.string(), nullable=False),
        pa.field("output", pa.string(), nullable=False),
        pa.field("label", pa.string(), nullable=False),
        pa.field("severity", pa.string()),
        pa.field("report", pa.string(), nullable=False),
        pa.field("country", pa.string()),
        pa.field("language", pa.string(), nullable=False),
        pa.field("origin", pa.string(), nullable=False),
        pa.field("weight", pa.float64(), nullable=False),
        pa.field("group", pa.string(), nullable=False),
        pa.field("twin_id", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Sample:
    """A row as it is written. ``twin_id`` joins the right and the wrong version of one instruction: of two twins
    exactly one is an error, and a ranking loss can compare them; it is None where there is no such pair."""

    sample_id: str
    item_id: str
    source: str
    task: str
    instruction: str
    output: str
    label: str
    severity: str | None
    report: str
    country: str | None
    language: str
    origin: str
    weight: float
    group: str
    twin_id: str | None


def make_sample(
    item: Item,
    task: str,
    instruction: str,
    output: str,
    report: ErrorReport,
    origin: Origin = Origin.NONE,
    twin_id: str | None = None,
) -> Sample:
    """A sample of ``item`` whose label and severity are read off its report, so that they can never disagree."""
    status = report.status
    severity = max((e.severity.value for e in report.errors), key=("minor", "major").index) if report.errors else None
    return Sample(
        sample_id=fingerprint(item.item_id, task, twin_id, status, instruction, output, length=20),
        item_id=item.item_id,
        source=item.source,
        task=task,
        instruction=instruction,
        output=output,
        label=status.value,
        severity=severity,
        report=report.render(),
        country=item.country,
        language=item.language,
        origin=(origin if status is Status.ERROR else Origin.NONE).value,
        weight=1.0,
        group=item.group,
        twin_id=twin_id,
    )


def to_table(samples: Iterable[Sample]) -> pa.Table:
    """Samples as an Arrow table in the one schema of the dataset."""
    rows = list(samples)
    columns = {name: [getattr(sample, name) for sample in rows] for name in SCHEMA.names}
    return pa.table(columns, schema=SCHEMA)
