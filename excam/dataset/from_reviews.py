"""Reviewed reports as training samples: what readers confirmed, and false alarms as the correct pairs they are."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any

from excam.dataset.draw import fingerprint
from excam.dataset.sample import Origin, Sample
from excam.report import CORRECT_REPORT, ErrorReport, ParseFailure, Status, parse_report
from excam.store.reviews import Opinion, settle

SOURCE = "reviews"


def samples_of(rows: Iterable[Mapping[str, Any]]) -> tuple[list[Sample], Counter[str]]:
    """Samples, one a text, and why the other reviewed pairs gave none.

    A confirmed report is learnt as it stands. A report of errors that readers call wrong becomes a correct pair. Where
    they are divided, or say that the judge missed something without saying what, nobody knows the right report; nor
    where the same text, logged again or judged by another judge, would be both with and without an error.
    """
    made: dict[str, list[Sample]] = {}
    left_out: Counter[str] = Counter()
    for row in rows:
        opinion = settle(row["opinions"])
        report = parse_report(row["report"] or "")
        if opinion is Opinion.PARTLY:
            left_out["partly right, or readers divided"] += 1
        elif isinstance(report, ParseFailure):
            left_out["the report cannot be read"] += 1
        elif opinion is Opinion.WRONG and report.status is not Status.ERROR:
            left_out["the judge missed an error that nobody wrote down"] += 1
        else:
            sample = _sample(row, report if opinion is Opinion.RIGHT else CORRECT_REPORT)
            made.setdefault(row["content_hash"], []).append(sample)
    agreed = [found for found in made.values() if len({sample.label for sample in found}) == 1]
    left_out["of a text that is another sample already"] += sum(len(found) - 1 for found in agreed)
    left_out["readers contradict each other on its text"] += sum(map(len, made.values())) - sum(map(len, agreed))
    return [found[0] for found in agreed], +left_out


def _sample(row: Mapping[str, Any], report: ErrorReport) -> Sample:
    status = report.status
    severities = [error.severity.value for error in report.errors or ()]
    return Sample(
        sample_id=fingerprint(SOURCE, row["content_hash"], status.value, length=20),
        item_id=f"{SOURCE}:{row['content_hash']}",
        source=SOURCE,
        task="review",
        instruction=row["instruction"],
        output=row["output"],
        label=status.value,
        severity="major" if "major" in severities else "minor" if severities else None,
        report=report.render(),
        country=row["country"],
        language=row["language"] or "und",
        origin=(Origin.HARD if status is Status.ERROR else Origin.NONE).value,
        weight=1.0,
        group=row["content_hash"],
        twin_id=None,
    )
