"""Whatever a record holds, it leaves as one outcome that the store can take: a pair, or a dead letter that says why."""

from __future__ import annotations

import gzip
import json
from typing import Any

import pytest
from hypothesis import example, given, settings

from excam.mapping import BadField, RecordMapping
from excam.outcome import Kind, outcome_table
from excam.pair import LoggedPair
from excam.shapes import DEEPEST, is_too_deep
from pipelines.screen import Row, Screening, screen_record
from pipelines.stream import decode
from pipelines.stream.message import Message, message_of
from pipelines.stream.screen import screen_message
from pipelines.units import Sampling
from tests.hostile.material import TEXTS, TIMES, good, records

PLAIN = Screening(RecordMapping(), Sampling(), gate=True)
REDACTED = Screening(RecordMapping(redact="all", metadata=("contact",)), Sampling(), gate=True)
ORIGIN = {"source": "log", "part": 0, "row": 0}


def outcome(record: dict[str, Any], how: Screening) -> Row:
    row = screen_record(record, ORIGIN, how)
    assert row is not None
    assert outcome_table([row]).num_rows == 1
    return row


@settings(deadline=None, max_examples=150)
@given(records)
@example(good | {"metadata": "\ud800"})
@example(good | {"metadata": {"\ud800": "\udfff"}})
def test_any_record_is_one_outcome_that_arrow_takes(record: dict[str, Any]) -> None:
    assert {outcome(record, how)["kind"] for how in (PLAIN, REDACTED)} <= set(Kind)


@pytest.mark.parametrize("field", list(good))
def test_every_hostile_text_in_every_field_is_kept_or_refused_by_name(field: str) -> None:
    for value in (*TEXTS, *TIMES):
        row = outcome(good | {field: value}, PLAIN)
        assert row["kind"] != Kind.DEAD_LETTER or f"{field}:" in row["detail"]


def nested(levels: int) -> bytes:
    return b'{"a":' * levels + b"1" + b"}" * levels


@pytest.mark.parametrize("levels", [DEEPEST - 2, DEEPEST, 500, 900, 985, 995, 5_000])
@pytest.mark.parametrize("how", [PLAIN, REDACTED])
def test_deep_nesting_ends_no_run(levels: int, how: Screening) -> None:
    deep = nested(levels)
    inside = b'{"prompt": "What is eaten in Japan?", "answer": "Rice.", "ts": 1.7e9, "metadata": ' + deep + b"}"
    as_text = json.dumps(good | {"metadata": deep.decode()}).encode()
    found = [screen_message(Message("t", 0, 0, one), "kafka:t", how, None).rows for one in (inside, as_text, deep)]
    kinds = [[row["kind"] if row else None for row in rows] for rows in found]
    assert kinds[1:] == [["pending"], ["dead_letter"]]
    assert kinds[0] == (["pending"] if levels < DEEPEST - 1 else ["dead_letter"])
    for rows in found:
        outcome_table([row for row in rows if row])


def test_depth_is_counted_without_recursion() -> None:
    deep: list[Any] = []
    for _ in range(100_000):
        deep = [deep]
    assert is_too_deep(deep)
    assert not is_too_deep([[1]] * 1000)
    assert isinstance(RecordMapping().read({"prompt": "a", "answer": "b", "metadata": deep}), BadField)
    while deep:  # Python itself frees such a list by recursion
        deep = deep[0]


def test_a_message_unfolded_beyond_all_measure_is_withheld_with_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decode, "LARGEST", 1000)
    monkeypatch.setattr("pipelines.stream.screen.LARGEST", 1000)
    message = Message("t", 0, 7, json.dumps(good | {"output": "x" * 5000}).encode(), b"key", None, {"h": b"v"})
    for how in (PLAIN, REDACTED):
        (row,) = screen_message(message, "kafka:t", how, None).rows
        assert row is not None
        assert (row["kind"], row["reason"]) == ("dead_letter", "undecodable")
        assert len(row["record"]) < 1000
        told = json.loads(row["record"])
        assert message.value is not None
        assert told["excam_message"]["value"]["withheld"] == len(message.value)
        kept = message_of(told)
        assert kept is not None
        assert (kept[0].key, kept[0].headers) == (b"key", {"h": b"v"})


def test_compressed_bytes_are_not_unfolded_by_us() -> None:
    bomb = gzip.compress(b"[" * 10_000_000)
    (row,) = screen_message(Message("t", 0, 0, bomb), "kafka:t", PLAIN, None).rows
    assert row is not None
    assert row["reason"] == "undecodable"
    assert len(row["record"]) < 3 * len(bomb)


def test_names_of_columns_are_never_more_than_names() -> None:
    record = good | {"a; DROP TABLE x": "1", '"': "2", "%s": "3", "__class__": "4", "a.b.0": "5"}
    mapping = RecordMapping(metadata=("a; DROP TABLE x", "__class__", "a.b.0", "__dict__.x"))
    pair = mapping.read(record)
    assert isinstance(pair, LoggedPair)
    assert pair.metadata == {"a; DROP TABLE x": "1", "__class__": "4", "a.b.0": "5", "__dict__.x": None}
