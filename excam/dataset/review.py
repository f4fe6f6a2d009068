"""Human validation: which samples a person looks at, what they say about them, and how the votes are spread.

The four questions are the paper's: is the pair about culture, is the error one, is the explanation right, and does the
severity fit. Each reviewer has a file of their own that is replaced whole after every vote, so a review can be broken
off at any time and several people can work side by side.
"""

from __future__ import annotations

import os
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from excam.dataset.draw import shuffled
from excam.dataset.sample import SCHEMA, Sample
from excam.dataset.table import read_columns
from excam.fault import UserError
from excam.report import Status


class Valid(StrEnum):
    """How far an error or an explanation holds; partial means that a part of it is unnecessary or missing."""

    YES = "valid"
    PARTIAL = "partial"
    NO = "not valid"


@dataclass(frozen=True)
class Vote:
    """One person's answers to the four questions about one sample."""

    sample_id: str
    reviewer: str
    culture_related: bool
    error_valid: str
    explanation_valid: str
    severity_agreed: bool


_SCHEMA = pa.schema(
    [
        ("sample_id", pa.string()),
        ("reviewer", pa.string()),
        ("culture_related", pa.bool_()),
        ("error_valid", pa.string()),
        ("explanation_valid", pa.string()),
        ("severity_agreed", pa.bool_()),
    ]
)

CRITERIA = {
    "culture related": lambda vote: vote.culture_related,
    "error valid (strict)": lambda vote: vote.error_valid == Valid.YES,
    "error valid (partial)": lambda vote: vote.error_valid != Valid.NO,
    "explanation valid": lambda vote: vote.explanation_valid == Valid.YES,
    "severity agreed": lambda vote: vote.severity_agreed,
}
"""The rows of the paper's Table 3 and, last, of its Table 13."""


def pick_samples(dataset: Path, count: int, seed: int, origin: str | None = None) -> list[Sample]:
    """``count`` error samples of a build, evenly over its sources; every reviewer with one seed sees the same."""
    fix = "name one of the Parquet files that `excam dataset build` wrote"
    if not dataset.is_file():
        raise UserError(f"there is no file {dataset}", fix)
    table = read_columns(dataset, SCHEMA.names, fix)
    keep = pc.equal(table["label"], Status.ERROR.value)
    if origin is not None:
        keep = pc.and_(keep, pc.equal(table["origin"], origin))
    by_source: dict[str, list[Sample]] = defaultdict(list)
    for row in table.filter(keep).to_pylist():
        by_source[row["source"]].append(Sample(**row))
    if not by_source:
        kind = f"error of origin {origin}" if origin else "error"
        raise UserError(f"{dataset} holds no {kind}", "name another file or origin")
    queues = {
        source: shuffled(sorted(found, key=lambda sample: sample.sample_id), seed, "review", source)
        for source, found in sorted(by_source.items())
    }
    picked: list[Sample] = []
    while len(picked) < count and any(queues.values()):
        picked += [queue.pop() for queue in queues.values() if queue][: count - len(picked)]
    return picked


class Ballot:
    """The votes of one reviewer, on file."""

    def __init__(self, folder: Path, reviewer: str) -> None:
        name = re.sub(r"[^\w-]+", "-", reviewer).strip("-")
        if not name:
            raise UserError(f"{reviewer!r} is no name for a reviewer", "give letters or digits with --reviewer")
        self.reviewer = reviewer
        self._path = folder / f"votes-{name}.parquet"
        self.votes: list[Vote] = _read(self._path) if self._path.exists() else []

    def done(self) -> set[str]:
        """The samples this reviewer has voted on; one whose name differs in a dot or a blank has the same file."""
        return {vote.sample_id for vote in self.votes if vote.reviewer == self.reviewer}

    def add(self, vote: Vote) -> None:
        """Record a vote; the file is complete before and after, never in between."""
        self.votes.append(vote)
        self._path.parent.mkdir(parents=True, exist_ok=True)
        draft = self._path.with_suffix(".draft")
        pq.write_table(pa.Table.from_pylist([asdict(one) for one in self.votes], schema=_SCHEMA), draft)
        os.replace(draft, self._path)


def _read(path: Path) -> list[Vote]:
    table = read_columns(path, _SCHEMA.names, "take it out of the folder of votes, or put back a copy that is whole")
    return [Vote(**row) for row in table.to_pylist()]


def read_votes(folder: Path) -> list[Vote]:
    """All votes of all reviewers in ``folder``."""
    return [vote for path in sorted(folder.glob("votes-*.parquet")) for vote in _read(path)]


def distribution(votes: Iterable[Vote], voters: int) -> dict[str, list[float]]:
    """For each criterion the share of samples with all, …, none of ``voters`` votes for it, as in Table 3.

    Only samples with exactly that many votes count; a reviewer who voted twice counts with the last vote.
    """
    by_sample: dict[str, dict[str, Vote]] = defaultdict(dict)
    for vote in votes:
        by_sample[vote.sample_id][vote.reviewer] = vote
    full: Sequence[list[Vote]] = [list(found.values()) for found in by_sample.values() if len(found) == voters]
    shares = {}
    for name, holds in CRITERIA.items():
        counts = Counter(sum(map(holds, found)) for found in full)
        shares[name] = [100 * counts[yes] / len(full) if full else 0.0 for yes in range(voters, -1, -1)]
    return shares
