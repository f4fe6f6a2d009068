"""One small fixed set of error categories, so that free-text error types can be counted over time.

The judge names types in its own words, and those words change with the judge. The categories join the examples of the
ExCAM paper (stereotyping, misrepresentation, incorrect information, lack of understanding of norms) with the six types
MSQA found among 43,000 wrong answers. The original text is kept beside the category, which is only for counting.
"""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
from functools import lru_cache


class Category(StrEnum):
    """What sort of cultural error it is; the most harmful sort an error type names decides."""

    STEREOTYPING = "stereotyping"
    LANGUAGE = "language"
    INSTITUTION = "institution"
    HISTORY = "history"
    FIGURES = "figures"
    NORMS_AND_VALUES = "norms_and_values"
    PRACTICE = "practice"
    MISREPRESENTATION = "misrepresentation"
    OTHER = "other"


DESCRIPTIONS: dict[Category, str] = {
    Category.STEREOTYPING: "Assumes that all members of a group are alike, or demeans the group.",
    Category.LANGUAGE: "Gets a local term, idiom or proverb wrong, or translates a fixed expression word by word.",
    Category.INSTITUTION: "Misnames a law, an office, an official system or a formal document.",
    Category.HISTORY: "Confuses events, periods, historical figures or their order.",
    Category.FIGURES: "Gives a wrong date, count, share, price or other number.",
    Category.NORMS_AND_VALUES: "Misjudges what is polite, acceptable, valued or believed in the culture.",
    Category.PRACTICE: "Swaps or misdescribes a custom, ritual, festival, dish, garment, symbol, work or place.",
    Category.MISREPRESENTATION: "States something false or distorted about the culture that fits no narrower category.",
    Category.OTHER: "None of these, or nothing that says what is wrong.",
}

# Stems looked for at the beginnings of words, the narrower category first: "historical inaccuracy about a festival" is
# a matter of history, and "misrepresentation of cultural values" one of values.
_STEMS: tuple[tuple[Category, str], ...] = (
    (
        Category.STEREOTYPING,
        "stereotyp generali essentiali prejudic bias racis sexis xenophob discriminat derogat offensiv demean exotici "
        "homogeni monolith caricatur orientalis insult slur hate tokenis oversimplif",
    ),
    (
        Category.LANGUAGE,
        "idiom proverb term language linguistic literal translat mistranslat slang dialect expression lexical word "
        "phras vocabular transliterat pronunciation honorific spelling script naming misnam grammar",
    ),
    (
        Category.INSTITUTION,
        "institution legal law laws regulat constitution government administrat politic court official jurisdiction "
        "polic educational bureaucra election parliament citizenship",
    ),
    (Category.HISTORY, "histor chronolog anachron era eras period ancest dynast coloni war wars timeline"),
    (
        Category.FIGURES,
        "numer number numbers numeric statistic date dates temporal year years count quantit percentage demograph "
        "calendar currency price prices measure population frequency",
    ),
    (
        Category.NORMS_AND_VALUES,
        "norm value etiquette manner polite impolite taboo insensitiv disrespect inappropriat unacceptable sensitiv "
        "moral ethic belief religio sacred spiritual gender opinion attitude worldview expectation behavio social "
        "famil hierarch respect misundersta understanding unawar awareness ignoran",
    ),
    (
        Category.PRACTICE,
        "practice custom tradition ritual rite ceremon festival holiday celebrat food cuisin dish dishes culinar "
        "ingredient recip drink clothing cloth dress attire garment costume symbol artifact artefact craft art arts "
        "music dance sport game literatur architect monument geograph place location region symbolism misidentif "
        "identification misattribut attribution appropriation folklore myth goods object material lifestyle",
    ),
    (
        Category.MISREPRESENTATION,
        "misrepresent incorrect inaccura inaccurate wrong fals factual fact misinform misleading distort fabricat "
        "hallucinat error mistak mischaracteri misinterpret misconcept confus conflat contradict omission erasure "
        "incomplete outdated invent representation information knowledge",
    ),
)
_PATTERNS = tuple((category, re.compile(r"\b(?:" + "|".join(stems.split()) + r")")) for category, stems in _STEMS)
_LONGEST = 300


@lru_cache(maxsize=4096)
def categorise(error_type: str) -> Category:
    """The category of an error type in any wording; what says nothing known is ``other``."""
    plain = unicodedata.normalize("NFKD", error_type[:_LONGEST]).casefold().replace("_", " ")
    for category, pattern in _PATTERNS:
        if pattern.search(plain):
            return category
    return Category.OTHER
