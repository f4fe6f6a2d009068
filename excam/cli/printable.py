"""Logged text for the terminal: whatever a log holds, nothing of it may steer the terminal or hide from the eye."""

from __future__ import annotations

import unicodedata

# Letters of several scripts are joined or kept apart by these two; Arabic numbers carry the others.
_KEPT = {"\u200c", "\u200d", "\u0600", "\u0601", "\u0602", "\u0603", "\u0604", "\u0605", "\u06dd", "\u070f"}
_HIDDEN = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}


def printable(text: str, *, lines: bool = False) -> str:
    """Text with control, formatting and unassigned characters written out as escapes; line ends stay when ``lines``.

    This covers terminal escape sequences, text that runs backwards and invisible tag characters.
    """
    return "".join(_shown(character, lines) for character in text)


def _shown(character: str, lines: bool) -> str:
    if character == "\n" and lines:
        return character
    if character == "\t" and lines:
        return "    "
    if unicodedata.category(character) in _HIDDEN and character not in _KEPT:
        return character.encode("unicode_escape", "surrogatepass").decode("ascii")
    return character


def shortened(text: str, length: int) -> str:
    """One line of at most ``length`` characters that is safe to print."""
    line = printable(" ".join(text.split()))
    return line if len(line) <= length else line[: length - 1] + "…"
