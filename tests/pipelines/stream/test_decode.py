"""Whatever bytes a message holds, it decodes to records or to a reason, and nothing is lost or raised."""

from __future__ import annotations

import json
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from excam.mapping import RecordMapping
from pipelines.screen import Screening
from pipelines.stream.decode import Undecodable, decode
from pipelines.stream.message import Message, message_of
from pipelines.stream.screen import screen_message
from pipelines.units import Sampling

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
SCREENING = Screening(RecordMapping(), Sampling(), gate=False)


@given(st.binary(max_size=200))
def test_any_bytes_decode_to_at_least_one_outcome(value: bytes) -> None:
    assert decode(value)


@given(st.dictionaries(st.text(), JSON, max_size=4))
def test_a_json_object_is_one_record(record: dict[str, object]) -> None:
    (found,) = decode(json.dumps(record).encode())
    assert found.record == record


@given(st.lists(st.dictionaries(st.text(), JSON, max_size=3), min_size=2, max_size=5))
def test_json_lines_are_one_record_each_and_each_keeps_its_line(records: list[dict[str, object]]) -> None:
    found = decode("\n".join(json.dumps(record) for record in records).encode())
    assert [one.record for one in found] == records
    assert [one.line for one in found] == list(range(1, len(records) + 1))


def test_a_broken_line_is_a_reason_beside_the_records_around_it() -> None:
    first, second, third = decode(b'{"a": 1}\n{"a": \n{"a": 3}')
    assert (first.record, third.record) == ({"a": 1}, {"a": 3})
    assert isinstance(second.record, Undecodable)
    assert "line 2" in second.record.reason


def test_hostile_json_is_a_reason() -> None:
    for value in (b"[" * 100_000, b"\xff\xfe{}", b"", b"null", b"3", b'"text"', b"[]", b"NaN", b"\0\0\0\0\1x"):
        (found,) = decode(value)
        assert isinstance(found.record, Undecodable), value


@given(
    st.none() | st.binary(max_size=50),
    st.none() | st.binary(max_size=20),
    st.dictionaries(st.text(max_size=8), st.binary(max_size=20), max_size=3),
)
def test_a_dead_letter_gives_back_the_very_message(
    value: bytes | None, key: bytes | None, headers: dict[str, bytes]
) -> None:
    message = Message("logs", 3, 77, value, key, 1_700_000_000_000, headers)
    text = json.dumps(message.record(sample_share=0.5)).encode("utf-8", "surrogatepass")
    found = message_of(json.loads(text))
    assert found is not None
    assert found[0] == message
    assert found[1]["sample_share"] == 0.5


def test_a_message_without_a_time_takes_the_brokers() -> None:
    value = b'{"prompt": "What do people eat in Japan?", "answer": "Rice."}'
    (row,) = screen_message(
        Message("logs", 0, 5, value, timestamp=1_700_000_000_000), "kafka:logs", SCREENING, None
    ).rows
    assert row is not None
    assert f"{row['logged_at']:%Y-%m-%d}" == "2023-11-14"
    assert (row["source"], row["part"], row["row"]) == ("kafka:logs", 0, 5)


def test_chat_messages_and_opentelemetry_spans_are_read_as_in_parquet() -> None:
    chat = {
        "messages": [{"role": "user", "content": "Hi"}, {"role": "assistant", "content": "Hello"}],
        "created": 1.7e9,
    }
    span = {
        "span_id": "s1",
        "start_time_unix_nano": 1_700_000_000_000_000_000,
        "attributes": {
            "gen_ai.input.messages": [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}],
            "gen_ai.output.messages": [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}],
        },
    }
    for record in (chat, span):
        found = screen_message(Message("logs", 0, 5, json.dumps(record).encode()), "kafka:logs", SCREENING, None).rows
        assert [(row["instruction"], row["output"]) for row in found if row] == [("Hi", "Hello")]


def test_a_tombstone_has_no_record_and_a_bad_one_is_a_dead_letter_with_headers_and_bytes() -> None:
    assert screen_message(Message("logs", 0, 1, None), "kafka:logs", SCREENING, None).rows == []
    bad = Message("logs", 2, 9, b"\xff\x00", b"key", 1_700_000_000_000, {"trace": b"abc"})
    (row,) = screen_message(bad, "kafka:logs", SCREENING, None).rows
    assert row is not None
    assert (row["kind"], row["reason"]) == ("dead_letter", "undecodable")
    assert "partition 2, offset 9" in row["detail"]
    kept = message_of(json.loads(row["record"]))
    assert kept is not None
    assert kept[0] == bad


def test_a_message_that_is_redacted_is_kept_as_one_that_can_be_tried_again() -> None:
    how = replace(SCREENING, mapping=RecordMapping(redact="all", redact_regions=("US",)))
    inside = r'{"from": "joe\u0040mail.example"}'
    record = {"id": "joe@mail.example", "prompt": r"What is \u0041 in Java?", "answer": "A", "body": inside}
    for moment in (1728464441012, 1725208303.2125550143):
        message = Message("logs", 0, 5, json.dumps(record | {"ts": moment}).encode())
        (row,) = screen_message(message, "kafka:logs", how, None).rows
        assert row is not None
        kept = message_of(json.loads(row["record"]))
        assert kept is not None
        assert "joe" not in row["record"]
        (again,) = screen_message(kept[0], "kafka:logs", how, None).rows
        assert again is not None
        for name in ("kind", "pair_id", "logged_at", "content_hash"):
            assert again[name] == row[name]
