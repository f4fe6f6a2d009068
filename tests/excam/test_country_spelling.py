"""Whatever a log's country field holds is read as an ISO code, or as nothing."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from excam.country import country_name, normalise
from excam.country.sources import alpha3, cldr, every_language


@pytest.mark.parametrize(
    ("spelling", "code"),
    [
        ("ID", "ID"),
        ("id", "ID"),
        ("IDN", "ID"),
        ("id-ID", "ID"),
        ("en_US.UTF-8", "US"),
        ("zh-Hant-TW", "TW"),
        ("U.S.", "US"),
        ("usa", "US"),
        ("UK", "GB"),
        ("EL", "GR"),
        ("South_Korea", "KR"),
        ("S. Korea", "KR"),
        ("Korea, Republic of", "KR"),
        ("Congo, Democratic Republic of the", "CD"),
        ("Hong Kong (SAR)", "HK"),
        ("Hong Kong SAR", "HK"),
        ("the Netherlands", "NL"),
        ("united_states_of_america", "US"),
        ("  türkiye ", "TR"),
        ("Türkiye", "TR"),
        ("timor-leste", "TL"),
        ("Palest. ter.", "PS"),
        ("India (Non-national sample)", "IN"),
        ("Czech Rep.", "CZ"),
        ("Bosnia Herzegovina", "BA"),
        ("Trinidad & Tobago", "TT"),
        ("Great Britain", "GB"),
        ("Northern Ireland", "GB"),
        ("Scotland", "GB"),
        ("Assam", "IN"),
        ("West_Java", "ID"),
        ("Northern_Nigeria", "NG"),
        ("german", "DE"),
        ("Americans", "US"),
        ("Deutschland", "DE"),
        ("日本", "JP"),
        ("Россия", "RU"),
        ("الجزائر", "DZ"),
        ("jordan", "JO"),
        ("Jakarta", "ID"),
    ],
)
def test_every_common_spelling_is_read(spelling: str, code: str) -> None:
    assert normalise(spelling) == code


@pytest.mark.parametrize(
    "spelling", ["", "  ", "unknown", "N/A", "na", "none", "EU", "Global", "en", "xx-YY", "?", "\ud800"]
)
def test_what_names_no_country_is_none(spelling: str) -> None:
    assert normalise(spelling) is None


def test_namibia_is_not_a_missing_value() -> None:
    assert normalise("NA") == "NA"


@pytest.mark.parametrize("code", sorted(alpha3().values()))
def test_every_country_comes_back_from_its_code_and_its_name(code: str) -> None:
    assert normalise(code) == normalise(country_name(code)) == code


def test_names_of_every_cldr_language_are_read_and_nearly_all_as_that_country() -> None:
    rows = [(code, name) for language, code, name in cldr(every_language()) if len(name) > 3]
    right = sum(normalise(name) == code for code, name in rows)
    assert right > 0.99 * len(rows)  # a few languages share a word for two countries


def test_an_unknown_code_is_its_own_name() -> None:
    assert (country_name("ID"), country_name("ZZ")) == ("Indonesia", "ZZ")


@given(st.text(st.characters(exclude_categories=()), max_size=120))
@settings(deadline=None)
def test_no_spelling_can_crash_it(spelling: str) -> None:
    assert normalise(spelling) in {None, *alpha3().values()}
