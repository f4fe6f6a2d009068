"""What must not be kept is replaced by a mark that says what it was, and ordinary text is left alone."""

from __future__ import annotations

import json
import math
import random
import time
from collections import Counter
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.fault import UserError
from excam.mapping import BadField, RecordMapping
from excam.pair import LoggedPair
from excam.redact import KINDS, Redactor

ALL = Redactor(KINDS, {}, ())


def redacted(text: str, redactor: Redactor = ALL) -> str:
    return redactor.text(text, Counter())


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", "joe.doe+tag@mail.example.org"),
        ("email", "почта@пример.рф"),
        ("phone", "+62 812-3456-7890"),
        ("phone", "+49 (0) 30 901820"),
        ("card", "4111 1111 1111 1111"),
        ("card", "5500-0000-0000-0004"),
        ("iban", "DE89 3704 0044 0532 0130 00"),
        ("iban", "GB82WEST12345698765432"),
        ("ip", "203.0.113.7"),
        ("ip", "2001:db8::8a2e:370:7334"),
        ("national", "536-90-4399"),
        ("national", "390.533.447-05"),
        ("national", "RSSMRA85T10A562S"),
        ("national", "11010519491231002X"),
        ("national", "820001199001010017"),  # of Macau, where the library knows no county, which breaks its check
    ],
)
def test_each_kind_is_found_in_the_middle_of_a_sentence(kind: str, text: str) -> None:
    assert redacted(f"Please note {text}, and answer.") == f"Please note [{kind.upper()}], and answer."


@pytest.mark.parametrize(
    "text",
    [
        "Indonesia has 17,508 islands and 275,773,800 people.",
        "On 2024-05-17 at 12:30:45 we read Genesis 1:2 and 3:16.",
        "Version 1.2.3 of https://example.org/path costs 1 234 567 890.50 Rp.",
        "4111 1111 1111 1112 fails its check digit.",
        "@handle and a@b are no addresses; ratio 10:20:30.",
        "日本では、お正月に門松を飾ります。",
        "Held in 2001 2002 2003 2004 2005 2006, ISBN 978 3 16 148410 0, 0.4111111111111111 of it.",
        "Order 4111 1111 1111 1112 of 12/27, parcel RE24 1234567890123456 ok.",
    ],
)
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert redacted(text) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("Card 4111 1111 1111 1111 12/27 123", "Card [CARD] 12/27 123"),
        ("my visa 4111 1111 1111 1111 123 thanks", "my visa [CARD] 123 thanks"),
        ("Order 12 4111 1111 1111 1111 please", "Order 12 [CARD] please"),
        ("2024 4111 1111 1111 1111", "2024 [CARD]"),
        ("4111111111111111 1227", "[CARD] 1227"),
        ("3782 822463 10005 1227", "[CARD] 1227"),
        ("4111\xa01111\xa01111\xa01111", "[CARD]"),
        ("4111\u202f1111\u202f1111\u202f1111", "[CARD]"),
        ("no.4111 1111 1111 1111", "no.[CARD]"),
        ("4111 1111 1111 1111 5500 0000 0000 0004", "[CARD] [CARD]"),
        ("٤١١١ ١١١١ ١١١١ ١١١١", "[CARD]"),
        ("2226 4111 1111 1111 1111", "[CARD]"),  # its first sixteen digits could be a card as well
        ("Rechnung RE24 DE89370400440532013000 ok", "Rechnung RE24 [IBAN] ok"),
        ("RE24 DE89 3704 0044 0532 0130 00 12 ok", "RE24 [IBAN] 12 ok"),
        ("DE89\xa03704\xa00044\xa00532\xa00130\xa000", "[IBAN]"),
    ],
)
def test_a_card_or_iban_is_found_whatever_numbers_stand_beside_it(text: str, left: str) -> None:
    assert redacted(text, Redactor(("iban", "card"), {}, ())) == left


def test_of_random_numbers_few_are_taken_for_cards() -> None:
    chance = random.Random(1)

    def share(lengths: list[int]) -> float:
        texts = [" ".join(str(chance.randrange(10**size)).zfill(size) for size in lengths) for _ in range(2000)]
        return sum("[CARD]" in redacted(text, Redactor(("card",), {}, ())) for text in texts) / len(texts)

    assert share([4, 4, 4, 4]) < 0.07
    assert share([16, 3]) < 0.12
    assert share([5, 3, 5, 2, 4, 1, 3, 5]) < 0.01


@pytest.mark.parametrize(
    "piece", ["4", "4 ", "4111 ", "4111 1111 1111 1111 ", "4111 111111 11111 ", "DE89 ", "AB12 A "]
)
def test_a_text_of_nothing_but_numbers_is_searched_in_seconds(piece: str) -> None:
    begun = time.process_time()
    redacted(piece * (200_000 // len(piece)), Redactor(("iban", "card"), {}, ()))
    assert time.process_time() - begun < 5


def test_telephone_numbers_in_national_form_need_their_region() -> None:
    text = "Call (415) 555-2671 today."
    assert redacted(text) == text
    assert redacted(text, Redactor(("phone",), {}, ("US",))) == "Call [PHONE] today."


def test_the_users_own_patterns_come_first_and_everything_is_counted() -> None:
    counts: Counter[str] = Counter()
    redactor = Redactor(("email",), {"ticket": r"T-\d{6}"}, ())
    assert redactor.text("T-123456 from a@b.example and T-654321", counts) == "[TICKET] from [EMAIL] and [TICKET]"
    assert counts == {"ticket": 2, "email": 1}


@given(st.text(max_size=200))
@settings(max_examples=60)
def test_any_text_goes_through_and_going_through_twice_changes_nothing_more(text: str) -> None:
    once = redacted(text)
    assert redacted(once) == once


@given(st.text(max_size=30), st.text(max_size=30))
def test_an_address_is_found_whatever_stands_around_it(before: str, after: str) -> None:
    assert "joe@mail.example" not in redacted(f"{before} joe@mail.example {after}")


def test_every_text_of_a_record_is_redacted_keys_and_long_numbers_included() -> None:
    record = {
        "joe@mail.example": [4111111111111111, b"joe@mail.example", {"deep": "203.0.113.7"}],
        "n": 3,
        "none": None,
    }
    found = ALL.value(record, Counter())
    assert found == {"[EMAIL]": ["[CARD]", "[EMAIL]", {"deep": "[IP]"}], "n": 3, "none": None}


@pytest.mark.parametrize("number", [4111111111111111, 4111111111111111.0, Decimal("4111111111111111.00")])
def test_a_number_is_found_whatever_the_type_of_its_column(number: float | Decimal) -> None:
    assert ALL.value([number], Counter()) == ["[CARD]"]


@pytest.mark.parametrize("number", [True, 0.4111111111111111, 1e308, math.inf, Decimal("Infinity"), Decimal("1E+60")])
def test_other_numbers_stay_as_they_are(number: float | Decimal) -> None:
    assert ALL.value([number], Counter()) == [number]


def test_a_mapping_redacts_before_a_pair_is_made_and_counts_beside_it() -> None:
    mapping = RecordMapping(redact="all", metadata=("contact",))
    record = {"prompt": "I am joe@mail.example", "answer": "Hello", "ts": 1.7e9, "contact": "203.0.113.7"}
    pair = mapping.read(record)
    assert isinstance(pair, LoggedPair)
    assert pair.instruction == "I am [EMAIL]"
    assert pair.metadata == {"contact": "[IP]", "redacted": {"email": 1, "ip": 1}}
    named = mapping.read(record | {"id": "joe@mail.example"})
    assert isinstance(named, LoggedPair)
    assert named.pair_id.startswith("redacted-")
    bad = mapping.read(record | {"ts": "joe@mail.example"})
    assert isinstance(bad, BadField)
    assert "joe" not in str(bad)


@pytest.mark.parametrize("who", ["joe@mail.example", "+62 812-3456-7890", 1734567890120, "T-1"])
def test_a_record_is_kept_so_that_a_replay_makes_the_same_pair_of_it(who: object) -> None:
    """Its time may look like a national number, and what is left of two people's ids must still tell them apart."""
    mapping = RecordMapping(redact="all", fields={"pair_id": "user.name", "logged_at": "at.ms"})
    record = {"user": {"name": who}, "at": {"ms": 1728464441012}, "prompt": "I am joe@mail.example", "answer": "Hello"}
    assert ALL.value(record, Counter())["at"] == {"ms": "[NATIONAL]"}
    kept = json.loads(json.dumps(mapping.kept(record)))
    assert "joe" not in json.dumps(kept)
    again, pair = mapping.read(kept), mapping.read(record)
    assert isinstance(pair, LoggedPair)
    assert isinstance(again, LoggedPair)
    assert (again.pair_id, again.logged_at, again.instruction) == (pair.pair_id, pair.logged_at, pair.instruction)
    assert mapping.kept(record | {"id": "390.533.447-05"})["id"] == "[NATIONAL]", "which is not the pair's"


@pytest.mark.parametrize("region", ["US", "us", "United States"])
def test_a_mapping_takes_regions_in_any_spelling(region: str) -> None:
    mapping = RecordMapping(redact=("phone",), redact_regions=(region,))
    assert mapping.redacted("Call (415) 555-2671 today.") == "Call [PHONE] today."


def test_norway_is_a_region_though_yaml_reads_it_as_false(tmp_path: Path) -> None:
    (tmp_path / "mapping.yaml").write_text("{redact: [phone], redact_regions: [SE, NO]}")
    assert RecordMapping.load(tmp_path / "mapping.yaml").redact_regions == ("SE", "NO")


def test_nothing_is_redacted_unless_asked(tmp_path: Path) -> None:
    pair = RecordMapping().read({"prompt": "I am joe@mail.example", "answer": "Hello", "ts": 1.7e9})
    assert isinstance(pair, LoggedPair)
    assert pair.instruction == "I am joe@mail.example"
    path = tmp_path / "mapping.yaml"
    path.write_text("redact: all\n")
    assert RecordMapping.load(path).redacts
    for broken, said in (
        ("redact: [faces]", "'faces' is nothing this version redacts; these are: email"),
        ("redact: email", r"redact: expected all, or a list of some of \[email, .*\], found 'email'"),
        ("redact_patterns: {x: '('}", "regular expression"),
        ("{redact: all, redact_regions: [ID, Atlantis]}", "redact_regions: 'Atlantis' is no country"),
        ("{redact: [email], redact_regions: [ID]}", "redact_regions: .* add phone"),
        ("redact_regions: [ID]", "redact_regions: .* add phone"),
    ):
        path.write_text(broken)
        with pytest.raises(UserError, match=said):
            RecordMapping.load(path)
