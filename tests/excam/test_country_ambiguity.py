"""Words that are a country's name in one sentence and something else in the next."""

from __future__ import annotations

import pytest

from excam.country import country_of


def named(text: str) -> str:
    return " ".join(country_of(text, "").countries)


@pytest.mark.parametrize(
    "text",
    [
        "Write it in French",
        "Translate this to Spanish please",
        "How do you say hello in Japanese?",
        "Answer in English, French or German.",
        "a Polish translation of the contract",
        "an Italian dictionary",
        "Por favor responde en español.",
        "auf Deutsch bitte",
        "ответь на русском языке",
        "bahasa Indonesia",
        "ภาษาไทย",
        "日本語で書いて",
        "한국어로 번역해 줘",
        "tiếng Anh",
    ],
)
def test_a_language_is_not_a_country(text: str) -> None:
    assert named(text) == ""


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("In Korean dining etiquette, who pays?", "KR"),
        ("In Korean, how does one greet an elder?", "KR"),
        ("French cuisine", "FR"),
        ("important to Germans", "DE"),
        ("la comida española", "ES"),
        ("русская кухня", "RU"),
        ("English people and their tea", "GB"),
    ],
)
def test_people_and_their_culture_are(text: str, code: str) -> None:
    assert named(text) == code


@pytest.mark.parametrize(
    ("place", "code", "other"),
    [
        ("What is the capital of Jordan?", "JO", "Jordan went home with Sofia and Charlotte."),
        ("people in Chad", "TD", "Chad is my best friend"),
        ("Turkey and Greece", "TR GR", "Turkey breast with gravy, or a roast turkey"),
        ("what to see in turkey", "TR", "feed the turkey"),
        ("the capital of china", "CN", "bone china and a china cabinet"),
        ("my Polish grandmother", "PL", "Polish the table with shoe polish"),
        ("Polish people", "PL", "Polish until it shines"),
        ("the Danish welfare state", "DK", "coffee and a danish"),
        ("a village in Mali", "ML", "mali miś"),
        ("a winery in chile", "CL", "one chile pepper, chopped"),
        ("Kiwi culture", "NZ", "peel the kiwi"),
        ("the US economy", "US", "let us go. LET US GO NOW"),
        ("in Lima, Peru", "PE", "lima beans"),
        ("Indian weddings", "IN", "the Indian Ocean"),
        ("American food", "US", "Latin American food in South America"),
        ("the Swiss Alps", "CH", "swiss cheese on french fries"),
        ("Brazil", "BR", "brazil nuts"),
        ("in Guinea", "GN", "two guinea pigs"),
        ("in Paris", "FR", "Paris Hilton"),
        ("인도 음식", "IN", "인도적 지원"),
        ("Γεωργία και Αρμενία", "GE AM", "η γεωργία και η κτηνοτροφία"),
    ],
)
def test_a_name_that_is_a_word_too_needs_its_surroundings(place: str, code: str, other: str) -> None:
    assert (named(place), named(other)) == (code, "")


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Niger and Nigeria", "NE NG"),
        ("Guinea-Bissau, Equatorial Guinea and Papua New Guinea", "GW GQ PG"),
        ("the Democratic Republic of the Congo and the Republic of the Congo", "CD CG"),
        ("Congo", "CD"),
        ("Northern Ireland and the Republic of Ireland", "GB IE"),
        ("Korea, then North Korea", "KR KP"),
        ("South Sudan, Sudan", "SS SD"),
        ("Dominica and the Dominican Republic", "DM DO"),
        ("American Samoa and Samoa", "AS WS"),
        ("New Mexico, then Mexico", "US MX"),
        ("American Indian tribes", "US"),
        ("Georgia Tech in Atlanta", "US"),
        ("wine from Georgia", "GE"),
        ("Inner Mongolia and Mongolia", "CN MN"),
    ],
)
def test_the_longest_name_wins(text: str, codes: str) -> None:
    assert named(text) == codes


@pytest.mark.parametrize(
    "text", ["Nation: jordan\nTask: greet", "Location (country): Jordan", "(Jordan)\nCountry: Jordan"]
)
def test_a_labelled_field_is_cue_enough(text: str) -> None:
    assert named(text) == "JO"


@pytest.mark.parametrize(
    "text",
    [
        "def us_states(of, to): return [s for s in us if s.id in to]",
        "SELECT * FROM it WHERE de = 1 AND no IN (1, 2)",
        "import java.util.List; // in Java",
        "The man was nice, reading a mobile, of course.",
        "Li Wei and Sofia met Jordan, Victoria, Austin and Santiago.",
    ],
)
def test_ordinary_text_and_code_name_none(text: str) -> None:
    assert named(text) == ""
