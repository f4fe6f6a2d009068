"""How country names change inside a sentence: prefixes that stick to them and endings that follow.

CLDR gives the dictionary form ("Azərbaycan", "Россия", "الجزائر"), while text says "Azərbaycanda", "в России",
"للجزائر". Prefixes are few, so they are spelled out when the gazetteer is built; endings are many, so a name carries
the tail it may have, which is tried only where the name was found.
"""

from __future__ import annotations

import re
from enum import IntEnum


class Tail(IntEnum):
    """What may follow a name before its word ends."""

    NONE = 0
    LATIN = 1
    LATIN_CASE = 2
    CYRILLIC = 3
    CYRILLIC_CASE = 4
    GREEK = 5
    CAUCASIAN = 6
    HANGUL = 7
    PARTICLE = 8
    ARABIC = 9
    NISBA = 10
    HEBREW = 11
    INDIC = 12
    ETHIOPIC = 13
    FREE = 14
    KATAKANA = 15


_PATTERNS = {
    Tail.NONE: r"(?= )",
    Tail.LATIN: r"[a-zß-öø-ɏəḁ-ỿ]{0,6}(?= )",
    Tail.LATIN_CASE: r"[aeiouyáéíóöőúüűāēīōūąęėįųăâîåäæøùò][a-zß-öø-ɏ]{0,3}(?= )",
    Tail.CYRILLIC: r"[а-яѐ-ӿ]{0,5}(?= )",
    Tail.CYRILLIC_CASE: r"(?:[аеёиоуыэюяіїє]{1,2}|[еоё][мйю]|єю|ами?|ям|ях|ах)?(?= )",
    Tail.GREEK: r"[ά-ώἀ-῾]{0,5}(?= )",
    Tail.CAUCASIAN: r"[ա-ևა-ჿ]{0,6}(?= )",
    # 어 and 말 make it the language, not the country.
    Tail.HANGUL: r"(?!어|말)[가-힣]{0,7}(?= )",
    Tail.PARTICLE: r"(?:에서?|에는|에선|의|인|인들|은|는|이|가|을|를|와|과|으로|로|도|사람\w*|음식\w*|문화\w*)?(?= )",
    Tail.ARABIC: r"(?:[يی](?:[ةه]|[ها]ا|ون|ين|ین|ات|ان)?|ها|های|ات)?(?= )",
    Tail.NISBA: r"(?:[ةها]|ون|ين|ات|ان)?(?= )",
    Tail.HEBREW: r"(?:י(?:ת|ם|ים|ות)?)?(?= )",
    Tail.INDIC: r"[\u0900-\u0dff]{0,9}(?= )",
    Tail.ETHIOPIC: r"[ሀ-፟]{0,5}(?= )",
    # Scripts without spaces: anything may follow but the character that makes it a language.
    Tail.FREE: r"(?![語语])",
    Tail.KATAKANA: r"(?![ァ-ヺー語])",
}
TAILS = tuple(re.compile(_PATTERNS[tail]) for tail in Tail)

# "in", "to", "from", "and", "the" and their joins, written as part of the next word.
_PREFIXES = {
    "ar": ("", "و", "ف", "ب", "ل", "ك", "وب", "ول", "فب"),
    "fa": ("", "در", "از"),
    "he": ("", "ב", "ל", "מ", "ה", "ו", "כ", "ש", "וב", "ול", "שב"),
    "am": ("", "በ", "ከ", "የ", "ለ", "ስለ", "በየ", "እና"),
    "ti": ("", "ብ", "ካብ", "ናይ", "ን", "ኣብ"),
}
# Latin-script languages that put case endings on names.
_LATIN_ENDINGS = re.compile(r"az|tr|tk|uz|hu|fi|et|lv|lt|pl|cs|sk|sl|hr|bs|sr_Latn|sq|ro|is|eu")
# Each script's tail, and the fewest letters a name needs to take it: endings of short names make other words.
_SCRIPTS = tuple(
    (tail, fewest, re.compile(letters))
    for tail, fewest, letters in (
        (Tail.HANGUL, 2, r"[가-힣]"),
        (Tail.ARABIC, 3, r"[\u0600-\u06ff]"),
        (Tail.HEBREW, 3, r"[א-ת]"),
        (Tail.INDIC, 4, r"[\u0900-\u0dff]"),
        (Tail.ETHIOPIC, 3, r"[ሀ-፟]"),
        (Tail.CAUCASIAN, 5, r"[ա-ևა-ჿ]"),
        (Tail.CYRILLIC, 6, r"[а-яѐ-ӿ]"),
        (Tail.CYRILLIC_CASE, 5, r"[а-яѐ-ӿ]"),
        (Tail.GREEK, 5, r"[ά-ώἀ-῾]"),
    )
)
# Korean names that are also the beginning of other words: only a particle may follow them.
_WORDS_TOO = frozenset({"인도", "이란", "가나", "부탄", "기니"})
# Tails that also follow the name without its last vowel ("Росси-и", "Polsk-ę"), and how long that stem must be.
_STEMS = {Tail.LATIN: 6, Tail.CYRILLIC: 5, Tail.CYRILLIC_CASE: 4, Tail.GREEK: 5, Tail.CAUCASIAN: 5}
_LAST_VOWEL = re.compile(r"(?:[аяйьоеиіыэєї]|[άαηήοόςι]|[aeiouyąęāēīõäöåėë]|[იაოე])$")
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")
_SHORT_KATAKANA = re.compile(r"[ァ-ヺー]{1,3}")


def unspaced(text: str) -> bool:
    """Whether any of it is in a script that writes words without spaces: Thai, Lao, Burmese, Khmer, kana, Han."""
    return _UNSPACED.search(text) is not None


def open_tail(stem: str) -> Tail:
    """The tail of a stem that is meant to take any ending its script has."""
    if "а" <= stem[0] <= "ӿ":
        return Tail.CYRILLIC
    return Tail.GREEK if "ά" <= stem[0] <= "῾" else Tail.LATIN


def inflection(language: str) -> str:
    """The language, where names change with it in a way of its own; languages of one answer share their forms."""
    return language if language in _PREFIXES or _LATIN_ENDINGS.fullmatch(language) else ""


def forms(name: str, language: str) -> list[tuple[str, Tail]]:
    """The keys under which a lower-case name of a language is looked up, each with the tail that may follow it."""
    if unspaced(name):
        return [(name, Tail.KATAKANA if _SHORT_KATAKANA.fullmatch(name) else Tail.FREE)]
    tail = _tail(name, language)
    stem = _LAST_VOWEL.sub("", name)
    if tail in _STEMS and " " not in name and _STEMS[tail] <= len(stem) < len(name):
        return [(name, tail), (stem, Tail.LATIN_CASE if tail is Tail.LATIN else tail)]
    keys = [prefix + name for prefix in _PREFIXES.get(language, ("",)) if len(name) > 3 or not prefix]
    if language != "ar":
        return [(key, tail) for key in keys]
    if not name.startswith("ال"):
        return [(key, tail) for key in [*keys, "ال" + name]]
    bare = name[2:]
    return [(key, tail) for key in [*keys, "لل" + bare, "ولل" + bare]] + [(bare.removesuffix("ة") + "ي", Tail.NISBA)]


def _tail(name: str, language: str) -> Tail:
    if name in _WORDS_TOO:
        return Tail.PARTICLE
    for tail, fewest, letters in _SCRIPTS:
        if letters.search(name) and len(name) >= fewest:
            return tail
    return Tail.LATIN if len(name) >= 6 and _LATIN_ENDINGS.fullmatch(language) else Tail.NONE
