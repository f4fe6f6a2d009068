"""Explanation quality for hard errors: does the explanation name the right answer, does the span mark the wrong one?

The right answer is read off the data: twins say two answers in the same words, so what stands in the right twin where
the wrong twin has its marked span is the answer that should have been given.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from excam.dataset.templates.explanation import LONGEST_ANSWER
from excam.report import CulturalError, ErrorReport, Status, parse_report
from excam.span import locate

_LABEL_LENGTH = 1  # twins that choose among options also differ in the letter or number of the option
# Scripts written without spaces: there a word may begin and end anywhere.
_UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def right_answer(span: str, wrong: str, right: str) -> str | None:
    """The part of ``right`` that stands where ``span`` stands in ``wrong``; None where the twins do not line up."""
    best: tuple[int, str] | None = None
    start = wrong.find(span)
    while start >= 0:
        before, after = wrong[:start], wrong[start + len(span) :]
        end = len(right) - len(after)
        if end > start:
            apart = _differences(before, right[:start]) + _differences(after, right[end:])
            if apart <= _LABEL_LENGTH and (best is None or apart < best[0]):
                best = apart, right[start:end]
        start = wrong.find(span, start + 1)
    return best[1] if best else None


def _differences(first: str, second: str) -> int:
    return sum(a != b for a, b in zip(first, second, strict=True))


def names_answer(explanation: str, answer: str, wrong: str = "") -> bool:
    """Whether ``answer`` stands in ``explanation`` as words of their own, upper and lower case alike, however encoded.

    Where the right answer is part of the wrong one ("no" of "no opinion"), naming the wrong one does not count. An
    answer too long to be quoted whole is looked for as training quotes it, by its beginning.
    """
    quoted = " ".join(answer.split())
    if len(quoted) > LONGEST_ANSWER:
        quoted = quoted[:LONGEST_ANSWER].rsplit(" ", 1)[0]
    text, wanted, other = _plain(explanation), _plain(quoted).strip(" ."), _plain(wrong).strip(" .")
    if other and wanted in other and wanted != other:
        text = text.replace(other, "\n")
    start = text.find(wanted) if wanted else -1
    while start >= 0:
        if _stands_alone(text, start, start + len(wanted)):
            return True
        start = text.find(wanted, start + 1)
    return False


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold()).split())


def _stands_alone(text: str, start: int, end: int) -> bool:
    edges = [(text[start - 1 : start], text[start]), (text[end : end + 1], text[end - 1])]
    return all(not (_in_word(outer) and _in_word(inner)) or _UNSPACED.search(outer + inner) for outer, inner in edges)


def _in_word(character: str) -> bool:
    """Letters and digits, and the marks that Hindi or Tamil write their vowels with."""
    return character.isalnum() or (character != "" and unicodedata.category(character).startswith("M"))


@dataclass(frozen=True)
class Explained:
    """One hard error the judge was asked about, and how far its report went; later steps are None when one failed."""

    source: str
    item_id: str
    found: bool
    names_right_answer: bool | None = None
    span_located: bool | None = None
    span_is_gold: bool | None = None
    span_overlaps: bool | None = None


def explained(rows: Iterable[Mapping[str, Any]]) -> list[Explained]:
    """Every hard error of a judged table whose right answer is known, with what its report got right."""
    kept = list(rows)
    right = {row["twin_id"]: row["output"] for row in kept if row["twin_id"] and row["label"] == Status.CORRECT}
    results = []
    for row in kept:
        if row["origin"] != "hard" or row["label"] != Status.ERROR or row["twin_id"] not in right:
            continue
        gold = (ErrorReport.model_validate_json(row["report"]).errors or ())[0]
        answer = right_answer(gold.span, row["output"], right[row["twin_id"]])
        if answer is not None:
            results.append(_explained(row, gold, answer))
    return results


def _explained(row: Mapping[str, Any], gold: CulturalError, answer: str) -> Explained:
    report = parse_report(row["written"] or "")
    errors = report.errors if isinstance(report, ErrorReport) else None
    if row["status"] != Status.ERROR or not errors:
        return Explained(row["source"], row["item_id"], found=False)
    true = locate(gold, row["instruction"], row["output"])
    places = [locate(error, row["instruction"], row["output"]) for error in errors]
    there = [place for place in places if place.how != "not_found"]
    same = [place for place in there if place.location == true.location]
    return Explained(
        source=row["source"],
        item_id=row["item_id"],
        found=True,
        names_right_answer=any(names_answer(error.explanation, answer, gold.span) for error in errors),
        span_located=len(there) == len(places),
        span_is_gold=any((place.start, place.end) == (true.start, true.end) for place in same),
        span_overlaps=any(place.start < true.end and true.start < place.end for place in same),
    )
