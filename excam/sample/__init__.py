"""The bundled sample log: eight weeks of three chatbots' traffic, written by hand, with planted cultural errors.

A demonstration needs a log whose truth is known and whose trend moves: half-way a newer model goes live that is better
for some countries and worse for one. The truth is in each pair's metadata (``planted``, ``planted_span``,
``planted_severity``, ``planted_country``, ``planted_language``), where no judge looks.
"""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from importlib import resources
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import BaseModel, ConfigDict

from excam.report import Severity, Status

# Eight whole weeks, Monday to Sunday, so that a weekly trend has no half-filled bucket.
HALF = timedelta(weeks=4)
MODELS = {
    "old": ("assistant-1", datetime(2026, 9, 7, tzinfo=UTC)),
    "new": ("assistant-2", datetime(2026, 9, 7, tzinfo=UTC) + HALF),
}

SCHEMA = pa.schema(
    [
        ("pair_id", pa.string()),
        ("instruction", pa.string()),
        ("output", pa.string()),
        ("logged_at", pa.timestamp("us", tz="UTC")),
        ("country", pa.string()),
        ("app", pa.string()),
        ("model", pa.string()),
        ("metadata", pa.string()),
    ]
)


class SamplePair(BaseModel):
    """One hand-written line: the pair as a user would have logged it, and what is known to be wrong with it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    app: str
    model: Literal["old", "new"]
    language: str
    about: str | None
    country: str | None = None
    planted: Status
    span: str | None = None
    severity: Severity | None = None
    instruction: str
    output: str

    @property
    def truth(self) -> str:
        """The metadata column: what was planted, as JSON, without the fields that do not apply."""
        planted = {
            "planted": self.planted,
            "planted_span": self.span,
            "planted_severity": self.severity,
            "planted_country": self.about,
            "planted_language": self.language,
        }
        return json.dumps({key: value for key, value in planted.items() if value is not None}, ensure_ascii=False)


def sample_pairs() -> list[SamplePair]:
    """The hand-written pairs in the order of their file."""
    text = resources.files(__package__).joinpath("pairs.jsonl").read_text(encoding="utf-8")
    return [SamplePair.model_validate_json(line) for line in text.splitlines()]


def _timed(pairs: list[SamplePair]) -> Iterator[tuple[datetime, SamplePair]]:
    """Spread each country's pairs evenly over its model's four weeks, with a jitter that is the same every time."""
    groups: dict[tuple[str, str | None], list[SamplePair]] = defaultdict(list)
    for pair in pairs:
        groups[pair.model, pair.about].append(pair)
    for (model, about), group in groups.items():
        for place, pair in enumerate(group):
            digest = hashlib.sha256(f"{about} {place} {pair.instruction}".encode()).digest()
            jitter = int.from_bytes(digest[:4]) / 2**32
            seconds = int((place + jitter) / len(group) * HALF.total_seconds())
            yield MODELS[model][1] + timedelta(seconds=seconds), pair


def write_sample(path: Path) -> int:
    """Write the sample log as Parquet, in the order of time, and say how many pairs it has."""
    timed = sorted(_timed(sample_pairs()), key=lambda entry: (entry[0], entry[1].instruction))
    rows = [
        {
            "pair_id": f"sample-{number:04d}",
            "instruction": pair.instruction,
            "output": pair.output,
            "logged_at": logged_at,
            "country": pair.country,
            "app": pair.app,
            "model": MODELS[pair.model][0],
            "metadata": pair.truth,
        }
        for number, (logged_at, pair) in enumerate(timed, start=1)
    ]
    pq.write_table(pa.Table.from_pylist(rows, schema=SCHEMA), path, compression="zstd")
    return len(rows)
