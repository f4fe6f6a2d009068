"""Three shapes of log are read without code; what cannot be read is named."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.fault import UserError
from excam.mapping import BadField, RecordMapping
from excam.pair import LoggedPair

TIME = "2026-03-01T12:30:00Z"
FLAT = {"id": "7", "prompt": "Who was Kartini?", "response": "A reformer.", "created_at": TIME}


def pair_of(record: dict[str, Any], mapping: RecordMapping | None = None) -> LoggedPair:
    found = (mapping or RecordMapping()).read(record)
    assert isinstance(found, LoggedPair), found
    return found


def fault_of(record: dict[str, Any], mapping: RecordMapping | None = None) -> str:
    found = (mapping or RecordMapping()).read(record)
    assert isinstance(found, BadField), found
    return str(found)


def test_flat_columns_are_known_by_their_usual_names() -> None:
    pair = pair_of(FLAT | {"country": "Indonesia", "metadata": '{"channel": "web"}'})
    assert (pair.pair_id, pair.instruction, pair.output) == ("7", "Who was Kartini?", "A reformer.")
    assert (pair.country, pair.metadata) == ("Indonesia", {"channel": "web"})


def test_a_mapping_names_columns_paths_constants_and_metadata() -> None:
    mapping = RecordMapping(
        fields={"instruction": "q", "output": "body.choices.0.text", "logged_at": "t"},
        constants={"app": "travel"},
        metadata=("tenant",),
    )
    pair = pair_of({"q": "Hi?", "body": {"choices": [{"text": "Hello."}]}, "t": 1_770_000_000, "tenant": "a"}, mapping)
    assert (pair.output, pair.app, pair.metadata) == ("Hello.", "travel", {"tenant": "a"})


def test_chat_messages_give_the_last_user_turn_with_its_context_and_the_answer() -> None:
    messages = [
        {"role": "system", "content": "You are from Malaysia."},
        {"role": "user", "content": "Hi"},
        {"role": "assistant", "content": "Hello!"},
        {"role": "user", "content": [{"type": "text", "text": "What is eaten?"}, {"type": "image_url"}]},
        {"role": "assistant", "content": "Nasi lemak."},
    ]
    pair = pair_of({"messages": json.dumps(messages), "created": 1_770_000_000, "id": "m1"})
    assert pair.instruction == (
        "System: You are from Malaysia.\nUser: Hi\nAssistant: Hello!\nUser: What is eaten?\n[image_url]"
    )
    assert pair.output == "Nasi lemak."


def test_one_user_turn_alone_is_the_instruction_as_it_stands() -> None:
    messages = [{"role": "user", "content": "Hi"}]
    response = {"id": "r", "created": 1_770_000_000, "model": "m", "choices": [{"message": {"content": "Hello"}}]}
    pair = pair_of({"messages": messages, "response": response})
    assert (pair.instruction, pair.output, pair.model, pair.pair_id) == ("Hi", "Hello", "m", "r")


@pytest.mark.parametrize("form", ["structured", "json", "indexed", "otlp"])
def test_opentelemetry_spans_are_read_in_every_form_they_are_exported(form: str) -> None:
    asked = [{"role": "user", "parts": [{"type": "text", "content": "Hi"}]}]
    answered = [{"role": "assistant", "parts": [{"type": "text", "content": "Hello"}]}]
    attributes: Any = {"gen_ai.input.messages": asked, "gen_ai.output.messages": answered}
    if form == "json":
        attributes = json.dumps({key: json.dumps(value) for key, value in attributes.items()})
    elif form == "indexed":
        attributes = {"gen_ai.prompt.0.role": "user", "gen_ai.prompt.0.content": "Hi"}
        attributes |= {"gen_ai.completion.0.role": "assistant", "gen_ai.completion.0.content": "Hello"}
    elif form == "otlp":
        attributes = [{"key": key, "value": {"stringValue": json.dumps(value)}} for key, value in attributes.items()]
    span = {"trace_id": "a", "span_id": "b", "start_time_unix_nano": 1_770_000_000 * 10**9, "attributes": attributes}
    pair = pair_of(span | {"resource": {"attributes": {"service.name": "bot"}}})
    assert (pair.pair_id, pair.instruction, pair.output, pair.app) == ("a-b", "Hi", "Hello", "bot")


@pytest.mark.parametrize(
    ("record", "fault"),
    [
        (
            FLAT | {"response": None},
            "output: is missing or null; the record has 'id', 'prompt', 'response', 'created_at'; "
            "--mapping says which is which",
        ),
        (FLAT | {"response": "  "}, "output: is empty"),
        (FLAT | {"response": 5}, "output: expected text, found int"),
        (FLAT | {"response": b"\xff"}, "output: expected text, found bytes"),
        (FLAT | {"created_at": "soon"}, "logged_at: Invalid isoformat string: 'soon'"),
        ({"messages": "hello", "created": 1}, "messages: expected a list of messages, found str"),
        ({"messages": [1], "created": 1}, "messages[0]: expected an object, found int"),
        ({"messages": [{"role": "assistant", "content": "x"}], "created": 1}, "messages: holds no user turn"),
        ({"attributes": {}}, "attributes.gen_ai.input.messages: is missing"),
    ],
)
def test_a_bad_record_names_the_field_and_what_was_found(record: dict[str, Any], fault: str) -> None:
    assert fault_of(record) == fault


def test_a_bad_record_is_named_by_the_users_own_column() -> None:
    assert fault_of({"q": None}, RecordMapping(fields={"instruction": "q"})).startswith("q: is missing or null")


def test_of_many_or_hostile_columns_a_message_names_a_few_in_short() -> None:
    record = {"\x1b[31m\ud800": 1, "long" * 100: 2} | {f"column {number}": number for number in range(50)}
    said = fault_of(record)
    assert "'\\x1b[31m\\ud800', 'longlong" in said
    assert "'column 7', …; --mapping" in said
    assert len(said) < 400


def test_a_record_without_an_id_gets_the_same_one_every_time() -> None:
    record = {key: value for key, value in FLAT.items() if key != "id"}
    assert pair_of(record).pair_id == pair_of(record).pair_id
    assert pair_of(record).pair_id != pair_of(record | {"created_at": "2026-03-02"}).pair_id


@pytest.mark.parametrize(
    ("value", "name"),
    [(7, "7"), (7.0, "7"), (-7.0, "-7"), ("7.0", "7.0"), (7.5, "7.5"), (2.0**53, "9007199254740992.0"), (True, "True")],
)
def test_an_id_is_the_same_where_a_missing_value_made_floats_of_its_column(value: object, name: str) -> None:
    pair = pair_of(FLAT | {"id": value, "model": value})
    assert (pair.pair_id, pair.model) == (name, name)


def test_what_is_not_a_number_is_no_id_that_all_such_records_share() -> None:
    record = FLAT | {"id": float("nan"), "model": float("nan")}
    pair = pair_of(record)
    assert pair.pair_id == pair_of({key: value for key, value in FLAT.items() if key != "id"}).pair_id
    assert pair.pair_id != pair_of(record | {"response": "A writer."}).pair_id
    assert pair.model is None


def test_a_record_without_an_id_gets_the_same_one_where_its_time_became_a_float() -> None:
    record = {key: value for key, value in FLAT.items() if key != "id"}
    ids = {pair_of(record | {"created_at": moment}).pair_id for moment in (1_770_000_000, 1_770_000_000.0)}
    assert len(ids) == 1


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(["messages", "attributes", "prompt", "output", "ts", "id"]), json_values))
@settings(max_examples=60)
def test_no_record_makes_the_reader_raise(record: dict[str, Any]) -> None:
    assert isinstance(RecordMapping().read(record), LoggedPair | BadField)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("shape: chat", "shape"),
        ("fields: {answer: x}", "'answer' is no field of a pair"),
        ("colour: red", "colour"),
        ("{", "is not YAML"),
    ],
)
def test_a_mapping_file_with_a_mistake_says_which(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "mapping.yaml"
    path.write_text(text)
    with pytest.raises(UserError, match=complaint):
        RecordMapping.load(path)
