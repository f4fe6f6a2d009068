"""Dead letters tried again: every record knows the letter it was kept in."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from excam.mapping import RecordMapping
from excam.store import Store
from excam.store.database import frugal
from pipelines.again import export_letters
from pipelines.batch import ScoreOptions, plan_sections
from pipelines.log_file import LogFile, inspect
from pipelines.read import read_units, record_json
from pipelines.screen import Row
from pipelines.screen_unit import screen_unit
from pipelines.stream.message import Message
from tests.conftest import pair_record
from tests.excam.store.outcomes import JUDGE, dead_letter, open_letters, put


def replayed(store: Store, folder: Path) -> list[Row]:
    """All dead letters of the store as a replay reads and screens them."""
    with frugal(store.url, read_only=True) as connection:
        (path,) = export_letters(connection, JUDGE, None, str(folder / "letters"))
    file = inspect(path)
    assert isinstance(file, LogFile)
    (planned,) = plan_sections(store, JUDGE, [file], ScoreOptions())
    section = replace(planned, own=True)
    return [row for unit in read_units(section) for row in screen_unit(unit, section, RecordMapping(), gate=False)[0]]


def kept(number: int, record: dict[str, Any], **changes: Any) -> dict[str, Any]:
    return dead_letter(number, record=record_json(record), **changes)


def test_a_replayed_record_names_its_letter_and_of_a_message_the_record_that_has_its_place(tmp_path: Path) -> None:
    lines = "\n".join(json.dumps(pair_record(number), default=str) for number in (1, 2))
    message = Message("logs", 0, 5, lines.encode()).record()
    with Store.open(f"ducklake:sqlite:{tmp_path}/catalog.sqlite") as store:
        put(store, kept(7, pair_record(0)), kept(5, message, source="kafka://logs", stage="decode"))
        letters = {letter["row"]: letter["dead_id"] for letter in open_letters(store)}
        found = {row["pair_id"]: (row["row"], row.get("replay_of")) for row in replayed(store, tmp_path)}
    assert found == {"pair-0": (7, letters[7]), "pair-1": (5, letters[5]), "pair-2": (5, None)}
