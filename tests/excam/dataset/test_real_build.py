"""The real sources, where ``EXCAM_SOURCES`` says they are: built in time, balanced, split cleanly, without leaks."""

from __future__ import annotations

import os
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from excam.dataset.build import Built, build
from excam.dataset.duplicates import SIMILAR, essence, jaccard, near_duplicates, shingles
from excam.dataset.gather import gather
from excam.dataset.leak import QA_SOURCES, check
from excam.dataset.mend import mend

FOLDER = os.environ.get("EXCAM_SOURCES", "")
pytestmark = pytest.mark.skipif(not FOLDER, reason="EXCAM_SOURCES names no folder of sources")


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Built:
    started = time.process_time()
    found = build(Path(FOLDER), tmp_path_factory.mktemp("real"))
    assert time.process_time() - started < 150
    return found


@pytest.fixture(scope="module")
def home(real: Built) -> dict[str, str]:
    """The split of every item that became a sample."""
    rows: dict[str, list[Any]] = {
        split: pq.read_table(real.folder / f"{split}.parquet", columns=["item_id"])["item_id"].to_pylist()
        for split in ("train", "dev", "test")
    }
    return {item: split for split, items in rows.items() for item in items}


def test_errors_and_correct_pairs_are_even_in_every_source_and_split(real: Built) -> None:
    counts = real.account.tally.by("split", "source", "label")
    for (split, source, label), count in counts.items():
        if label == "error":
            assert counts[split, source, "correct"] == count


def test_there_are_tens_of_thousands_of_twins(real: Built) -> None:
    assert Counter({"error": 40_000}) <= Counter({"error": real.account.tally.by("label")[("error",)]})


@pytest.mark.parametrize("source", QA_SOURCES[:3])
def test_a_bag_of_words_stays_near_random(real: Built, source: str) -> None:
    (found,) = [leak for leak in check(real.folder, ["instruction + output"]) if leak.source == source]
    assert found.near_random, found


def test_no_near_duplicate_crosses_the_splits(home: dict[str, str]) -> None:
    split_of: dict[str, str] = {}
    for item in map(mend, gather(Path(FOLDER)).items):
        if item.item_id in home:
            split_of.setdefault(essence(item), home[item.item_id])
    for one, other in near_duplicates(sorted(split_of), SIMILAR):
        assert split_of[one] == split_of[other], (jaccard(shingles(one), shingles(other)), one[:80], other[:80])
