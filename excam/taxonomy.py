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

# Words looked for, the narrower category first: "historical inaccuracy about a festival" is a matter of history. A word
# with a star stands for all that begin with it, one with two also for those that hold it.
_WORDS: tuple[tuple[Category, str], ...] = (
    (
        Category.STEREOTYPING,
        "stereotyp** generali** essentiali** prejudic** bias* racis* sexis* xenophob* discriminat* derogat* offensive* "
        "demean* exotici* homogeni** monolith* caricatur* orientalis* objectif* insult* slur slurs hate* tokenis* "
        "simplif** dehumani*",
    ),
    (
        Category.LANGUAGE,
        "idiom** proverb* term terms terminolog* language* linguistic* literal* translat** slang dialect* expression* "
        "lexic* word words wording phras** vocabular* transliterat* pronunciation honorific* spelling script naming "
        "grammar*",
    ),
    (
        Category.INSTITUTION,
        "institution* legal* law laws regulat* constitution* government* administrat* politic** court courts official* "
        "jurisdiction* policy policies bureaucra* election* parliament* citizenship educational",
    ),
    (Category.HISTORY, "histor** chronolog* anachron* era eras period periods dynast* coloni** war wars timeline*"),
    (
        Category.FIGURES,
        "numer* number* statistic* date dates temporal* year years count counts quantit* percentage* demograph* "
        "figure figures calendar* currency price prices measure* population* frequency",
    ),
    (
        Category.NORMS_AND_VALUES,
        "norm norms normative value values etiquette manners polite** taboo* sensitiv** respect** appropriateness "
        "inappropriat* unacceptab* acceptab* moral* ethic ethics ethical gender* opinion* attitude* worldview* "
        "expectation* behavio* social* societal famil* hierarch* understand** understood** aware** ignoran*",
    ),
    (
        Category.PRACTICE,
        "practice* custom customs tradition** belief* religio** sacred* spiritual* ritual* rite rites ceremon* festiv* "
        "holiday* celebrat* food* cuisin* dish dishes culinar* ingredient* recipe* drink* cloth* dress dresses attire* "
        "garment* costume* symbol* artifact* artefact* craft* art arts artistic music* dance* sport* game games "
        "literatur* architect* monument* geograph* place places location* region* identif** attribut** appropriation "
        "folklore* myth myths mytholog* goods object objects material* lifestyle*",
    ),
    (
        Category.MISREPRESENTATION,
        "represent** incorrect* inaccura* accuracy wrong* false* falsehood* fact facts factual* misinform* mislead* "
        "distort* fabricat* hallucinat* error errors mistak* mischaracteri* misinterpret* misconcep* confus* conflat* "
        "contradict* omission* omit* erasure incomplete* outdated invent* information knowledge",
    ),
)


def _pattern(word: str) -> str:
    stem = word.rstrip("*")
    return {0: rf"\b{stem}\b", 1: rf"\b{stem}", 2: stem}[len(word) - len(stem)]


_PATTERNS = tuple((category, re.compile("|".join(map(_pattern, words.split())))) for category, words in _WORDS)
_LONGEST = 300


@lru_cache(maxsize=4096)
def categorise(error_type: str) -> Category:
    """The category of an error type in any wording; what says nothing known is ``other``."""
    plain = unicodedata.normalize("NFKD", error_type[:_LONGEST]).casefold().replace("_", " ")
    for category, pattern in _PATTERNS:
        if pattern.search(plain):
            return category
    return Category.OTHER
