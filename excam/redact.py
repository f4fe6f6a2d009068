"""Personal numbers and addresses taken out of a text before anything keeps or judges it.

What is found is replaced by a mark that says what it was, so that a report still reads well and its spans refer to
the text that is stored. Shapes are found by patterns and confirmed where a number carries its own proof: checksums of
cards, IBANs and national numbers (python-stdnum), numbering plans of telephones (phonenumbers). Names and street
addresses carry no such proof and are not looked for.
"""

from __future__ import annotations

import hashlib
import importlib
import ipaddress
import math
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import lru_cache
from typing import Any

from excam.payment import Span, cards, ibans

KINDS = ("email", "iban", "ip", "card", "national", "phone")

_EMAIL = re.compile(r"[\w.!#$%&'*+/=?^`{|}~-]{1,64}@(?:[\w-]{1,63}\.){1,8}[^\W\d_][\w-]{1,62}")
_IPV4 = re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.]*\d)")
_IPV6 = re.compile(r"(?<![\w:.])(?:[0-9A-Fa-f]{0,4}:){2,7}(?:[0-9A-Fa-f]{1,4}|\d{1,3}(?:\.\d{1,3}){3})?(?![\w:])")
_DIGIT = re.compile(r"\d")

# National numbers: the shape they are written in, and the python-stdnum module that checks them. A shape without
# separators is listed only where date and check digits together make a chance hit unlikely.
_NATIONAL: tuple[tuple[str, str], ...] = (
    (r"\d{3}-\d{2}-\d{4}", "us.ssn"),
    (r"9\d{2}-\d{2}-\d{4}", "us.itin"),
    (r"\d{3} \d{3} \d{4}", "gb.nhs"),
    (r"\d{3}[ -]\d{3}[ -]\d{3}", "ca.sin"),
    (r"\d{3}\.\d{3}\.\d{3}-\d{2}|\d{11}", "br.cpf"),
    (r"\d{1,2}\.\d{3}\.\d{3}-[\dkK]", "cl.rut"),
    (r"[A-Z]{4}\d{6}[HM][A-Z]{5}[A-Z\d]\d", "mx.curp"),
    (r"\d{4}[ -]\d{4}[ -]\d{4}|[2-9]\d{11}", "in_.aadhaar"),
    (r"[A-Z]{5}\d{4}[A-Z]", "in_.pan"),
    (r"\d{17}[\dXx]", "cn.ric"),
    (r"\d{6}-\d{7}", "kr.rrn"),
    (r"\d{16}", "id.nik"),
    (r"\d{6}-\d{2}-\d{4}|\d{12}", "my.nric"),
    (r"\d-?\d{4}-?\d{5}-?\d{2}-?\d", "th.pin"),
    (r"\d{5}-\d{7}-\d", "pk.cnic"),
    (r"[1-9]\d{10}", "tr.tckimlik"),
    (r"\d{13}", "za.idnr"),
    (r"\d{8}-?[A-Z]", "es.dni"),
    (r"[XYZ]-?\d{7}-?[A-Z]", "es.nie"),
    (r"[A-Z]{6}\d{2}[A-EHLMPRST]\d{2}[A-Z]\d{3}[A-Z]", "it.codicefiscale"),
    (r"[12] ?\d{2} ?\d{2} ?\d[\dAB] ?\d{3} ?\d{3} ?\d{2}", "fr.nir"),
    (r"\d{2} ?\d{3} ?\d{3} ?\d{3}", "de.idnr"),
    (r"\d{4}\.\d{2}\.\d{3}", "nl.bsn"),
    (r"\d{2}\.?\d{2}\.?\d{2}-?\d{3}\.?\d{2}", "be.nn"),
    (r"756\.?\d{4}\.?\d{4}\.?\d{2}", "ch.ssn"),
    (r"\d{11}", "pl.pesel"),
    (r"(?:\d{2})?\d{6}[-+]\d{4}", "se.personnummer"),
    (r"\d{6}-\d{4}", "dk.cpr"),
    (r"\d{6} ?\d{5}", "no.fodselsnummer"),
    (r"\d{6}[-+A-FU-Y]\d{3}[0-9A-Y]", "fi.hetu"),
    (r"[1-8]\d{12}", "ro.cnp"),
    (r"\d{6}/\d{3,4}", "cz.rc"),
)


class Redactor:
    """Finds the kinds asked for and the user's own patterns; the latter come first, since they know best."""

    def __init__(self, kinds: Sequence[str], patterns: Mapping[str, str], regions: Sequence[str]) -> None:
        self._finders: list[tuple[str, Callable[[str], Iterator[Span]]]] = [
            (name, _pattern_finder(re.compile(pattern))) for name, pattern in patterns.items()
        ]
        finders = {"email": _emails, "iban": ibans, "ip": _addresses, "card": cards, "national": _national_numbers}
        for kind in KINDS:
            if kind in kinds:
                self._finders.append((kind, _phone_finder(regions) if kind == "phone" else finders[kind]))

    def text(self, text: str, counts: Counter[str]) -> str:
        """The text with marks such as ``[EMAIL]`` in place of what was found; ``counts`` says how much of each."""
        for kind, find in self._finders:
            pieces, last = [], 0
            for start, end in find(text):
                if start >= last and end > start:
                    pieces += [text[last:start], f"[{kind.upper()}]"]
                    last = end
                    counts[kind] += 1
            if pieces:
                text = "".join([*pieces, text[last:]])
        return text

    def value(self, value: Any, counts: Counter[str]) -> Any:
        """The same for anything a log record may hold: every text in it, keys and long numbers included."""
        if isinstance(value, str):
            return self.text(value, counts)
        if isinstance(value, bytes):
            return self.text(value.decode("utf-8", "backslashreplace"), counts)
        if (digits := _digits(value)) is not None:
            told = self.text(digits, counts)
            return value if told == digits else told
        if isinstance(value, Mapping):
            return {self.value(key, counts): self.value(one, counts) for key, one in value.items()}
        if isinstance(value, list | tuple | set):
            return [self.value(one, counts) for one in value]
        return value


@lru_cache(maxsize=16)
def redactor(kinds: tuple[str, ...], patterns: tuple[tuple[str, str], ...], regions: tuple[str, ...]) -> Redactor:
    """One redactor for each configuration a process meets."""
    return Redactor(kinds, dict(patterns), regions)


def redacted_id(name: str) -> str:
    """What a pair is called whose id gives something away: a hash, which still tells it from others."""
    return f"redacted-{hashlib.blake2b(name.encode('utf-8', 'surrogatepass'), digest_size=12).hexdigest()}"


def _digits(value: Any) -> str | None:
    """The digits of a long whole number; a column of such numbers with gaps in it comes as floats."""
    if isinstance(value, float | Decimal) and math.isfinite(value) and value == int(value):
        value = int(value)
    is_long = isinstance(value, int) and not isinstance(value, bool) and abs(value) >= 10**6
    return str(value) if is_long else None


def _pattern_finder(pattern: re.Pattern[str]) -> Callable[[str], Iterator[Span]]:
    return lambda text: (match.span() for match in pattern.finditer(text))


def _emails(text: str) -> Iterator[Span]:
    return (match.span() for match in _EMAIL.finditer(text)) if "@" in text else iter(())


def _addresses(text: str) -> Iterator[Span]:
    matches = [match for pattern in (_IPV4, _IPV6) for match in pattern.finditer(text) if len(match.group()) > 3]
    return iter(sorted(match.span() for match in matches if _is_address(match.group())))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


@lru_cache(maxsize=1)
def _national_checks() -> tuple[tuple[re.Pattern[str], Callable[[str], bool]], ...]:
    return tuple(
        (re.compile(rf"(?<![\w.-])(?:{shape})(?![\w-])"), importlib.import_module(f"stdnum.{module}").is_valid)
        for shape, module in _NATIONAL
    )


def _national_numbers(text: str) -> Iterator[Span]:
    if not _DIGIT.search(text):
        return iter(())
    found = {
        match.span()
        for pattern, is_valid in _national_checks()
        for match in pattern.finditer(text)
        if _proven(match.group(), is_valid)
    }
    return iter(sorted(found))


def _proven(number: str, is_valid: Callable[[str], bool]) -> bool:
    """Whether a number proves what it is, or breaks the check itself, when nobody can say that it is none.

    The Chinese check does so on a right date and check digit with a county that its list does not hold.
    """
    try:
        return is_valid(number)
    except Exception:  # noqa: BLE001 - whatever a check of the library throws must not end the run
        return True


def _phone_finder(regions: Sequence[str]) -> Callable[[str], Iterator[Span]]:
    """Numbers in international form, and in the national form of the regions named."""
    import phonenumbers

    def find(text: str) -> Iterator[Span]:
        if len(_DIGIT.findall(text)) < 7:
            return iter(())
        found = {
            (match.start, match.end)
            for region in (regions or (None,))
            for match in phonenumbers.PhoneNumberMatcher(text, region, max_tries=len(text))
        }
        return iter(sorted(found))

    return find
