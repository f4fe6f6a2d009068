"""Numbers one pays with, found in a text by their shape and confirmed by their checksum: cards and IBANs.

Other numbers often stand beside them, as an expiry date, a security code or an order does, so every place where such a
number could begin is looked at, and no more of the text than one can take.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

Span = tuple[int, int]

_GAP = r"[ \u00a0\u202f-]"  # between the groups of a number
_IBAN_BEGINS = re.compile(r"(?<![A-Za-z0-9])([A-Za-z]{2})\d{2}")
# A card's digits in any groups where no others are near; in the groups cards have, whatever numbers stand around them.
_NOT_WITHIN_A_NUMBER = r"(?<!\d)(?<!\d\.)"
_ALONE = re.compile(rf"{_NOT_WITHIN_A_NUMBER}(?<!\d{_GAP})(\d(?:{_GAP}?\d){{12,18}})(?!{_GAP}?\d)")
_FOURS = rf"\d{{4}}({_GAP})\d{{4}}\2\d{{4}}\2\d{{4}}"
_FOUR_SIX_FIVE = rf"\d{{4}}({_GAP})\d{{6}}\3\d{{4,5}}"
_AMONG_NUMBERS = re.compile(rf"{_NOT_WITHIN_A_NUMBER}(?=(\d{{13,19}}|{_FOURS}|{_FOUR_SIX_FIVE})(?!\d))")
_ISSUER = re.compile(r"2[2-7]|[3-6]")


def cards(text: str) -> Iterator[Span]:
    """Where numbers of cards stand: digits as an issuer begins them, in groups as on a card, with their check digit."""
    matches = [match for pattern in (_ALONE, _AMONG_NUMBERS) for match in pattern.finditer(text)]
    found: list[Span] = []
    for start, end in sorted(match.span(1) for match in matches if _is_card(match[1])):
        if found and start < found[-1][1]:  # which of them is the card cannot be known: both go
            start, end = found[-1][0], max(end, found.pop()[1])
        found.append((start, end))
    return iter(found)


def ibans(text: str) -> Iterator[Span]:
    """Where IBANs stand: a country, two check digits and as much as that country's have, with a checksum over all."""
    from stdnum import iban

    for begin in _IBAN_BEGINS.finditer(text):
        match = _iban_shape(begin[1].upper()).match(text, begin.end())
        if match and iban.is_valid(text[begin.start() : match.end()]):
            yield begin.start(), match.end()


@lru_cache(maxsize=26 * 26)
def _iban_shape(country: str) -> re.Pattern[str]:
    """What follows a country's letters and the check digits: how long that is depends on the country."""
    from stdnum import numdb

    parts = numdb.get("iban").info(country)[0][1].get("bban", "")  # such as 8!n10!n
    length = sum(map(int, re.findall(r"\d+", parts)))
    return re.compile(rf"(?:{_GAP}?[A-Za-z0-9]){{{length}}}(?![A-Za-z0-9])")


def _is_card(text: str) -> bool:
    from stdnum import luhn

    digits = "".join(str(int(sign)) for sign in text if sign.isdecimal())
    return _ISSUER.match(digits) is not None and luhn.is_valid(digits)
