"""What stands around a word and decides what it means: "in Jordan" names a place, "in French" none.

Mostly English, because the words are ambiguous in English; other languages tell their names apart by other means.
"""

from __future__ import annotations

import re

from excam.country.gazetteer import Care, Kind, Name
from excam.country.text import Folded, blanked

_REACH = 40  # characters looked at on either side


def _one_of(*words: str) -> str:
    return "(?:" + "|".join(" ".join(words).split()) + ")"


_PLACE_VERBS = _one_of("in across throughout within inside visit visiting visited around near outside")
_PLACE_NOUNS = _one_of(
    "country nation kingdom republic people person man woman men women students? family families culture customs?",
    "traditions? capital government king queen history cuisine parts? north south east west island regions? areas?",
    "travel travell?ing travell?ed trip moved? moving immigrants? tourists? refugees?",
)
_PLACE_BEFORE = re.compile(
    rf"\b(?:{_PLACE_VERBS}|{_PLACE_NOUNS} (?:of|from|to|in))"
    rf"(?: {_one_of('the modern rural urban ancient northern southern eastern western central')})? [\"'‘“(]?$"
    # A labelled field, as in "Nation: Jordan" or "Location (country): Chad".
    rf"|\b{_one_of('country nation nationality location region place nat state')}\b\W{{1,4}}(?:\w+\W{{1,3}})?$",
    re.IGNORECASE,
)
_PLACE_AFTER = re.compile(
    r"(?:['’]s)? "
    + _one_of("cultur\\w+ customs traditions? cuisine government president capital society population economy")
)
_PEOPLE_NOUNS = _one_of(
    "people person man men woman women gentlem[ae]n citizens? families family friends? students? teachers? soldiers?",
    "immigrants? tourists? customers? kings? queens? lord nobility aristocra\\w+ monarch\\w* president government army",
    "culture cultural customs? traditions? traditional society etiquette folklore history heritage community church",
    "literature music cinema television humou?r slang law courts? flag border city town village countryside garden",
    "weather schools? households? homes? workplaces? business pubs? football cricket tea breakfast cuisine food",
    "dish(?:es)? meals? sausages? dumplings? wedding holidays? festivals? christmas easter",
)
_PEOPLE_AFTER = re.compile(rf"[ -]{_PEOPLE_NOUNS}\b", re.IGNORECASE)
_LANGUAGE_NOUNS = _one_of(
    "languages? translations? translator speakers? speaking spoken grammar alphabet subtitle[sd]? sentences? texts?",
    "vocabulary dictionary keyboard pronunciation transcripts? transcription version characters?",
    "язык\\w* мов\\w+ език\\w* jezik\\w* język\\w* sprache",
)
_LANGUAGE_AFTER = re.compile(rf"[ -]{_LANGUAGE_NOUNS}\b", re.IGNORECASE)
_TELLING = _one_of(
    "translat\\w+ writ\\w+ rewrite answer\\w* reply respon[ds]\\w* say said explain version text email letter sentence",
    "message words? it this that back",
)
_SPEAKING = _one_of("speak\\w* spoke learn\\w* fluent traditional in into en al em ao auf ins på til на")
_LANGUAGE_BEFORE = re.compile(
    rf"(?:\b(?:{_TELLING}[^.!?\n]{{0,30}}(?:into|to|from)|{_SPEAKING})"
    r"|\bEnglish(?:,? \w+){0,6}(?:,|,? or|,? and)) $",
    re.IGNORECASE,
)
_CLAUSE_ENDS = re.compile(
    r"[\"'’”)]*(?:\s*$|\s*[.,;:!?)\]\n]|\s+"
    + _one_of(
        "and or please with for using but only about on to so as is are was how what instead if because from that this",
        "the by at into now too well fluently than y o e et ou und oder bitte por para pour и та или",
    )
    + r"\b)",
    re.IGNORECASE,
)
# "In Korean, how does one greet?" asks about the culture, "answer in Korean, how ..." does not.
_QUESTION_AFTER = re.compile(rf", {_one_of('what how why which who when where is are do does')}\b")
_SENTENCE_STARTS = re.compile(r"(?:^|[.!?:;\n•*#>|/\"“‘'(\[-])[\s\"“‘'(\[*_#-]*$")
_SHOUTED = re.compile(r"\b[A-Z]{2,}\W+$|^\W+[A-Z]{2,}\b")


def speaks_for(name: Name, text: Folded, start: int, end: int) -> bool:
    """Whether the word at ``[start, end)`` names the country it may name."""
    written = text.written
    if name.care is Care.EXACT:
        return blanked(written[start:end]) == name.form and not _shouted(written, start, end)
    if name.kind is Kind.PEOPLE and _means_language(written, start, end):
        return False
    if name.care is Care.ANY:
        return True
    capital = written[start].isupper()
    if name.care is Care.PROPER:
        return capital
    if capital and name.care is Care.CAPITAL:
        return True
    before = written[max(0, start - _REACH) : start]
    if capital and name.care is Care.MIDDLE and not _SENTENCE_STARTS.search(before):
        return True
    if name.kind is Kind.PEOPLE:
        return _PEOPLE_AFTER.match(written, end) is not None
    return _PLACE_BEFORE.search(before) is not None or (capital and _PLACE_AFTER.match(written, end) is not None)


def _means_language(written: str, start: int, end: int) -> bool:
    if written[end - 1] in "sS" and not written[start:end].lower().endswith("ese"):
        return False  # "the Germans" are never a language
    if _LANGUAGE_AFTER.match(written, end):
        return True
    before = written[max(0, start - _REACH) : start]
    if _LANGUAGE_BEFORE.search(before) is None or _CLAUSE_ENDS.match(written, end) is None:
        return False
    return not (before.endswith("In ") and _QUESTION_AFTER.match(written, end))


def _shouted(written: str, start: int, end: int) -> bool:
    """Whether capitals say nothing here, because everything around is in capitals ("LET US GO")."""
    before, after = written[max(0, start - 12) : start], written[end : end + 12]
    return _SHOUTED.search(before) is not None and _SHOUTED.search(after) is not None
