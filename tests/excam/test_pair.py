"""The logged pair: its time, its identity, its place in a sample."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from excam.pair import LoggedPair, content_hash, parse_time, sample_position

MOMENT = datetime(2026, 3, 1, 12, 30, tzinfo=UTC)
SECONDS = int(MOMENT.timestamp())


@pytest.mark.parametrize(
    "value",
    [
        MOMENT,
        MOMENT.replace(tzinfo=None),
        MOMENT.astimezone(timezone(timedelta(hours=7))),
        "2026-03-01T12:30:00Z",
        "2026-03-01 19:30:00+07:00",
        "2026-03-01 12:30:00 UTC",
        SECONDS,
        str(SECONDS),
        SECONDS * 1_000,
        SECONDS * 1_000_000,
        SECONDS * 1_000_000_000,
        Decimal(SECONDS * 1_000),
    ],
)
def test_every_usual_way_to_write_a_time_is_the_same_moment(value: Any) -> None:
    assert parse_time(value) == MOMENT


@pytest.mark.parametrize("value", ["2026-03-01", date(2026, 3, 1)])
def test_a_day_without_an_hour_is_its_midnight(value: Any) -> None:
    assert parse_time(value) == datetime(2026, 3, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    ["yesterday", "", True, None, [], float("nan"), Decimal("NaN"), -1, "0001-01-01", "9999-12-31", date.max, 1e300],
)
def test_what_is_no_time_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match=r"time|outside|isoformat"):
        parse_time(value)


@given(st.text(), st.text(), st.text(), st.text())
def test_two_pairs_have_one_hash_only_if_their_texts_agree(a: str, b: str, c: str, d: str) -> None:
    assert (content_hash(a, b) == content_hash(c, d)) == ((a, b) == (c, d))


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_a_field_that_a_log_leaves_blank_says_nothing(blank: str) -> None:
    fields = {"pair_id": "1", "instruction": "q", "output": "a", "logged_at": MOMENT}
    pair = LoggedPair.model_validate(fields | dict.fromkeys(("country", "language", "app", "model"), blank))
    assert (pair.country, pair.language, pair.app, pair.model) == (None, None, None, None)


@pytest.mark.parametrize(("logged", "language"), [("en-US", "en"), ("Klingonish", "Klingonish"), (None, None)])
def test_a_logged_language_is_kept_by_its_code_if_it_has_one(logged: str | None, language: str | None) -> None:
    pair = LoggedPair(pair_id="1", instruction="q", output="a", logged_at=MOMENT, language=logged)
    assert pair.language == language


def test_moving_text_between_the_halves_changes_the_hash() -> None:
    assert content_hash("ab", "c") != content_hash("a", "bc")


def test_a_sample_holds_about_its_share_and_grows_without_losing_members() -> None:
    ids = [f"pair-{number}" for number in range(20_000)]
    small = {each for each in ids if sample_position(each) < 0.05}
    large = {each for each in ids if sample_position(each) < 0.2}
    assert small < large
    assert 0.045 < len(small) / len(ids) < 0.055


@pytest.mark.parametrize("field", ["instruction", "output"])
def test_an_empty_half_is_refused_by_name(field: str) -> None:
    texts = {"instruction": "q", "output": "a", field: " \n"}
    with pytest.raises(ValidationError) as refused:
        LoggedPair(pair_id="1", logged_at=MOMENT, **texts)  # type: ignore[arg-type]
    assert refused.value.errors()[0]["loc"] == (field,)
