"""The data of the adapter that only tests use: the English pairs of the sample log, with the reports they call for.

A model of 135 million parameters cannot judge culture, but it can learn a hundred pairs by heart, and then it decides
clearly and writes reports freely, which is all that tests of a tuned judge need. docs/training.md has the commands.

    python -m tests.train.sample_dataset DIR
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq

from excam.country import country_name
from excam.dataset.item import Item, Task
from excam.dataset.sample import Origin, Sample, make_sample, to_table
from excam.report import CORRECT_REPORT, NOT_APPLICABLE_REPORT, CulturalError, ErrorReport, Location, Severity, Status
from excam.sample import SamplePair, sample_pairs

LONGEST = 400
MOST = 36
"""Of each kind: as many as the sample has errors."""


def samples() -> list[Sample]:
    """One sample a pair, short ones only, of each kind about as many."""
    seen: Counter[str] = Counter()
    chosen = []
    for pair in sample_pairs():
        if pair.language == "en" and len(pair.instruction + pair.output) < LONGEST and seen[pair.planted] < MOST:
            seen[pair.planted] += 1
            chosen.append(pair)
    return [_sample(number, pair) for number, pair in enumerate(chosen)]


def _sample(number: int, pair: SamplePair) -> Sample:
    item = Item(
        item_id=f"sample:{number}",
        group=f"sample:{number}",
        source="sample",
        task=Task.FREEFORM_QA,
        question=pair.instruction,
        gold=pair.output,
        country=pair.about,
        language="en",
        cultural=pair.planted != Status.NOT_APPLICABLE,
    )
    return make_sample(item, Task.FREEFORM_QA, pair.instruction, pair.output, _report(pair), Origin.HARD)


def _report(pair: SamplePair) -> ErrorReport:
    if pair.planted != Status.ERROR:
        return CORRECT_REPORT if pair.planted == Status.CORRECT else NOT_APPLICABLE_REPORT
    place = country_name(pair.about) if pair.about else "this culture"
    error = CulturalError(
        severity=pair.severity or Severity.MAJOR,
        type="Cultural inaccuracy",
        location=Location.OUTPUT,
        span=pair.span or pair.output,
        explanation=f"This is not so in {place}.",
    )
    return ErrorReport(errors=(error,))


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for split in ("train", "dev"):
        pq.write_table(to_table(samples()), folder / f"{split}.parquet")
    print(f"{len(samples())} samples in {folder}")
