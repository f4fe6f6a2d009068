"""What is judged again leaves the store in portions, so that the driver never holds all of it."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest

from excam.store import Store, portions
from excam.store.database import frugal
from pipelines.again import export_letters
from pipelines.replayed import replayed_record
from tests.excam.store.outcomes import JUDGE, TUNED, dead_letter, place_id, put

LETTERS = 3 * portions.VECTOR


@pytest.fixture
def letters(store_url: str) -> str:
    """A store of letters, one of which has no record, and one of another judge."""
    with Store.open(store_url) as store:
        put(store, *(dead_letter(number, record=f'{{"n": {number}}}') for number in range(LETTERS)))
        put(store, dead_letter(LETTERS, record=None))
        put(store, dead_letter(LETTERS + 1), judge=TUNED)
    return store_url


def exported(url: str, into: Path, dead_ids: list[str] | None = None) -> list[list[int]]:
    """The rows of the original log that each file holds, if the record is that row's."""
    with Store.open(url) as store, frugal(store.url, read_only=True) as connection:
        files = export_letters(connection, JUDGE, dead_ids, str(into))
    found = [[replayed_record(raw) for raw in pq.read_table(file).to_pylist()] for file in files]
    return [[one[1]["row"] for one in rows if one is not None and one[0]["n"] == one[1]["row"]] for rows in found]


def test_every_open_letter_with_a_record_is_replayed_and_no_file_holds_all(
    letters: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(portions, "PORTION_BYTES", 1)
    files = exported(letters, tmp_path / "letters")
    assert len(files) >= 3
    assert sorted(row for rows in files for row in rows) == list(range(LETTERS))


def test_letters_that_are_named_are_replayed_alone(letters: str, tmp_path: Path) -> None:
    named = [place_id(row) for row in (5, 9, LETTERS, LETTERS + 1)]
    assert [sorted(rows) for rows in exported(letters, tmp_path / "letters", named)] == [[5, 9]]
    assert exported(letters, tmp_path / "none", named[-1:]) == []
    assert exported(letters, tmp_path / "none", []) == []
