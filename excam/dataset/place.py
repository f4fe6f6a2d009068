"""Countries as the dataset speaks of them: their English names, and which of them are neighbours in culture."""

from __future__ import annotations

from functools import cache

from excam.dataset.sources import places

# The subregions of the UN's M49 standard; a swap inside one is a near miss, a swap across them is far off.
_SUBREGIONS = {
    "northern africa": "DZ EG LY MA SD TN EH",
    "western africa": "BJ BF CV CI GM GH GN GW LR ML MR NE NG SN SL TG",
    "middle africa": "AO CM CF TD CG CD GQ GA ST",
    "eastern africa": "BI KM DJ ER ET KE MG MW MU MZ RW SC SO SS UG TZ ZM ZW",
    "southern africa": "BW SZ LS NA ZA",
    "northern america": "US CA BM GL",
    "central america": "BZ CR SV GT HN MX NI PA",
    "caribbean": "AG BS BB CU DM DO GD HT JM KN LC VC TT PR CW AW",
    "south america": "AR BO BR CL CO EC GY PY PE SR UY VE",
    "central asia": "KZ KG TJ TM UZ",
    "eastern asia": "CN HK JP KP KR MN MO TW",
    "south-eastern asia": "BN KH ID LA MY MM PH SG TH TL VN",
    "southern asia": "AF BD BT IN IR MV NP PK LK",
    "western asia": "AM AZ BH CY GE IQ IL JO KW LB OM PS QA SA SY TR AE YE",
    "eastern europe": "BY BG CZ HU MD PL RO RU SK UA",
    "northern europe": "DK EE FI IS IE LV LT NO SE GB FO",
    "southern europe": "AL AD BA HR GR IT MT ME MK PT SM RS SI ES XK VA",
    "western europe": "AT BE FR DE LI LU MC NL CH",
    "australia and new zealand": "AU NZ",
    "pacific islands": "FJ PG SB VU KI MH FM NR PW WS TO TV",
}
_REGION_OF = {code: region for region, codes in _SUBREGIONS.items() for code in codes.split()}


@cache
def country_name(code: str | None) -> str:
    """The English name of an ISO 3166 alpha-2 code as people write it; an unknown code stands for itself."""
    return in_words(code).removeprefix("the ") if code else ""


def in_country(code: str | None) -> str:
    """`` in Peru`` or `` in the Netherlands``, and nothing where no country is known: a phrase to end a clause with."""
    return f" in {in_words(code)}" if code else ""


@cache
def in_words(code: str) -> str:
    """The name inside a sentence, with the article that some names take."""
    try:
        return places.home(code).replace("&", "and")
    except KeyError:
        return code


def region_of(code: str) -> str | None:
    """The world region (UN subregion) of a country."""
    return _REGION_OF.get(code)


def near(one: str, other: str) -> bool:
    """Whether two countries lie in the same world region, so that confusing them is the smaller mistake."""
    region = _REGION_OF.get(one)
    return region is not None and region == _REGION_OF.get(other)
