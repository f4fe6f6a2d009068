"""The language of a text as an ISO 639-1 code, cheap enough to ask of every logged text.

Most scripts belong to one language, so counting letters by script answers without a model; py3langid decides among
those that share one. What cannot be known is ``und``: nothing, numbers, code, a word or two. A wrong guess would turn
into a false "answered in the wrong language", an honest ``und`` does not.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import cache
from threading import Lock
from typing import Any

UNKNOWN = "und"

_HEAD, _PROSE = 2000, 400  # characters looked at, and characters of prose among them that are read
_FEWEST_LETTERS = 6  # below, nothing is certain, except in scripts of one language
_SHORT, _SURE = 36, 0.7  # up to so many letters the model must be this sure
_CODE_SIGNS = 0.12  # signs a letter from which a text is code or formulas

# Model labels left out: languages without native speakers, and Bosnian, which it cannot tell from Croatian.
_LEFT_OUT = frozenset({"vo", "an", "wa", "la", "eo", "bs"})

_NOT_PROSE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|https?://\S+|\S+@\S+|<[^<>\n]{1,200}>", re.DOTALL)
_TAG = re.compile(r"([a-z]{2,3})[-_.@].{1,40}")
_SIGNS = re.compile(r"[{}()\[\];=<>_\\|&$@^~]")
# First and last letter of each script; where it has one language, the script is named for that.
_RANGES = (
    ("latin", "AZ az ªª ºº ÀÖ Øö øɏ Ḁỿ"),
    ("cyrillic", "Ѐӿ"),
    ("arabic", "ؠۿ ݐݿ"),
    ("devanagari", "ऀॿ"),
    ("ethiopic", "ሀ፟"),
    ("han", "㐀鿿 豈龎"),
    ("kana", "ぁヿ ｦﾟ"),
    ("ko", "가힣 ᄀᇿ ㄱㆎ"),
    ("bn", "ঀ৾"),
    ("el", "ͰϿ ἀ῾"),
    ("he", "את"),
    ("th", "ก๛"),
    ("lo", "ກໟ"),
    ("my", "က႟"),
    ("km", "ក៹"),
    ("ka", "Ⴀჿ"),
    ("hy", "Ա֏"),
    ("pa", "ਁ੶"),
    ("gu", "ઁ૿"),
    ("or", "ଁ୷"),
    ("ta", "ஂ௺"),
    ("te", "ఀ౿"),
    ("kn", "ಀೲ"),
    ("ml", "ഀൿ"),
    ("si", "ඁ෴"),
    ("bo", "ༀ࿚"),
    ("dv", "ހޱ"),
)
_SHARED = frozenset({"latin", "cyrillic", "arabic", "devanagari", "ethiopic"})
_DENSE = {"han": 3, "kana": 2, "ko": 2}  # letters of other scripts that one of these is worth
_ASSAMESE = re.compile("[ৰৱ]")

OTHER_NAMES = {
    "balochi": "bal",
    "bengali": "bn",
    "dutch flemish": "nl",
    "farsi": "fa",
    "kirundi": "rn",
    "mandarin": "zh",
    "north macedonian": "mk",
    "papiamento": "pap",
    "tagalog": "tl",
}
"""English names of languages besides those of the Unicode locale data."""


class _Scripts(dict[str, str]):
    """Script by character, filled as characters come; an empty name is no letter."""

    _pairs = tuple((script, pair[0], pair[1]) for script, pairs in _RANGES for pair in pairs.split())

    def __missing__(self, sign: str) -> str:
        script = next((script for script, first, last in self._pairs if first <= sign <= last), "")
        self[sign] = script
        return script


_script_of = _Scripts()
_loading = Lock()


def language_of(text: str) -> str:
    """The ISO 639-1 code of the language most of the text is in, ``und`` when it cannot be known."""
    head = text[:_HEAD]
    if "`" in head or "<" in head or "://" in head or "@" in head:
        head = _NOT_PROSE.sub(" ", head)
    head = head[:_PROSE]
    letters = Counter(map(_script_of.__getitem__, head))
    del letters[""]
    if not letters:
        return UNKNOWN
    for script, worth in _DENSE.items():
        letters[script] *= worth
    if letters["kana"]:
        letters["ja"] = letters.pop("kana") + letters.pop("han")
    script, count = letters.most_common(1)[0]
    if script not in _SHARED:
        return _of_one_script(script, head)
    if count < _FEWEST_LETTERS or len(_SIGNS.findall(head)) > _CODE_SIGNS * count:
        return UNKNOWN
    language, sureness = _identifier().classify(head)
    return str(language) if sureness >= _SURE or count > _SHORT else UNKNOWN


def languages_of(texts: Iterable[str]) -> list[str]:
    """The language of each text, in order."""
    return [language_of(text) for text in texts]


def language_code(name: str) -> str | None:
    """The code of a language as logs and people write it: a code in any case, a locale tag, or its English name."""
    text = name.strip().casefold()
    tag = _TAG.fullmatch(text)
    return _codes().get(text) or (_codes().get(tag[1]) if tag else None)


@cache
def _codes() -> dict[str, str]:
    from babel import Locale
    from babel.core import get_global

    names = {code: name for code, name in Locale("en").languages.items() if code.isalpha()}
    aliases = {old: code for old, code in get_global("language_aliases").items() if code in names}
    named = OTHER_NAMES | {name.casefold(): code for code, name in names.items()}
    return aliases | named | {code: code for code in names}


def _of_one_script(script: str, head: str) -> str:
    if script == "han":
        return "zh"
    return "as" if script == "bn" and _ASSAMESE.search(head) else script


def _identifier() -> Any:
    with _loading:
        return _load()


@cache
def _load() -> Any:
    from excam.language_model import load_identifier

    return load_identifier(_LEFT_OUT)
