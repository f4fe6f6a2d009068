"""Finding a person in dead letters: by name where a record can be read, anywhere where it cannot."""

from __future__ import annotations

import json

import pytest

from excam.store.mentions import mentions

WHO = "alice-4711"


@pytest.mark.parametrize(
    "record",
    [
        {"user": {"id": WHO}},
        {"user.id": WHO},
        {"context": {"user.id": WHO}},
        {"metadata": json.dumps({"user.id": WHO})},
        {"metadata": json.dumps(json.dumps({"user": {"id": WHO}}))},
        {"id": [WHO, "another"]},
        {"metadata": [["channel", "web"], ["user.id", WHO]]},
        {"user": json.dumps({"id": WHO})[:-1]},
    ],
)
def test_a_dotted_name_is_found_however_a_log_writes_it(record: object) -> None:
    assert mentions(json.dumps(record), "user.id", WHO)
    assert not mentions(json.dumps(record), "user.id", "bob")


@pytest.mark.parametrize(
    "record",
    [
        {"user": {"id": "2"}, "prompt": "1 and 1?", "counts": [1, 1], "at": 1},
        {"user.id": 2, "prompt": '"1" is a number'},
        {"user": {"id": "11"}, "nested": json.dumps({"count": 1})},
    ],
)
def test_a_short_value_takes_no_record_that_has_it_under_another_name(record: object) -> None:
    assert not mentions(json.dumps(record), "user.id", "1")


@pytest.mark.parametrize("value", [4711, 4711.0, "4711"])
def test_a_number_is_found_whether_a_log_has_it_as_an_integer_a_float_or_a_text(value: object) -> None:
    assert mentions(json.dumps({"user": {"id": value}}), "user.id", "4711")
    assert not mentions(json.dumps({"user": {"id": value}}), "user.id", "471")


@pytest.mark.parametrize("value", [WHO, 'O"Brien \\ 🍚', "Zoë\n"])
def test_a_record_that_cannot_be_read_is_taken_when_it_holds_the_value(value: str) -> None:
    whole = json.dumps({"user": value})
    twice = json.dumps({"metadata": whole})
    for text in (
        whole[:-1],
        twice[:-1],
        whole.upper()[:-1],
        f"INFO {whole}",
        f"{value} said hello",
        "\ufeff" + whole[:-1],
    ):
        assert mentions(text, "user", value)
        assert not mentions(text, "user", "bob")
    assert not mentions(whole[:-1], "user", ""), "nothing is in every text"


@pytest.mark.parametrize(
    "text", ["[" * 100_000, '{"a":' * 600 + f'"{WHO}"' + "}" * 600, json.dumps({"messages": "[" * 5000})]
)
def test_a_record_that_is_nested_too_deep_to_be_read_is_searched_as_text(text: str) -> None:
    assert mentions(text, "user", WHO) is (WHO in text)
    assert mentions(text + WHO, "user", WHO)


@pytest.mark.parametrize("inner", [{"headers": {}, "value": {"base64": "é"}}, {"headers": ["x"]}, [], {"value": 1}])
def test_a_log_that_only_looks_like_a_kept_message_is_no_obstacle(inner: object) -> None:
    assert not mentions(json.dumps({"excam_message": inner}), "user", WHO)
    assert mentions(json.dumps({"excam_message": inner, "user": WHO}), "user", WHO)
