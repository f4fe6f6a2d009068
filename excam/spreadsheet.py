"""Logged text in CSV: a spreadsheet runs a cell that begins like a formula, and a log holds whatever users typed."""

from __future__ import annotations

import re

# What spreadsheets take for the beginning of a formula, in the widths that East Asian ones know too.
FORMULA = r"^([=+\-@\t\r\n＝＋－＠])"

_FORMULA = re.compile(FORMULA)


def inert(text: str) -> str:
    """The text with a quote before it where a spreadsheet would run it, which shows it as it is."""
    return _FORMULA.sub(r"'\1", text)
