"""Soft errors: a language model puts cultural errors into a correct pair, and what it wrote is checked strictly.

The prompt is the paper's (appendix C, Table 7), in a minor and a major variant. Nothing is tried twice: an answer that
fails any check is recorded with its reason and dropped.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Literal

from excam.dataset.worddiff import Change, changes, words
from excam.report import CulturalError, ErrorReport, Location, Severity

MOST_ERRORS = 5
LONGEST_SPAN = 300
LENGTH_BOUNDS = (0.6, 1.6)
LONGEST_TAIL = 12
LANGUAGE_CHARACTERS = 60

KEYS = (
    "Error Type",
    "Cultural Content",
    "Rule Adherence",
    "Explanation",
    "Severity",
    "Modified Instruction",
    "Modified Generated Text",
)

_DEGREE = {
    Severity.MINOR: "Your error(s) should be minor, but still incorrect.",
    Severity.MAJOR: "Your error(s) should be major and significantly incorrect.",
}


@cache
def _prompt() -> str:
    return files("excam.dataset").joinpath("soft_prompt.txt").read_text("utf-8").strip()


Reason = Literal[
    "no_json",
    "wrong_keys",
    "not_cultural",
    "severity",
    "unchanged",
    "language",
    "length",
    "appended",
    "too_many",
    "explanation",
]

_TELLS = re.compile(
    r"\b(modified|modification|original(ly)? (text|instruction|answer)|introduced? (an? )?error)", re.IGNORECASE
)


@dataclass(frozen=True)
class SoftError:
    """A valid answer: the pair with its errors, and the report that describes them."""

    instruction: str
    output: str
    report: ErrorReport


@dataclass(frozen=True)
class Rejected:
    """An answer that failed a check: which one and why, counted so that a model's quality can be stated."""

    reason: Reason
    detail: str


def prompt(instruction: str, output: str, severity: Severity) -> str:
    """The paper's generation prompt for one pair and one degree of error."""
    return _prompt().format(instruction=instruction, output=output, degree=_DEGREE[severity])


def read(answer: str, instruction: str, output: str, severity: Severity) -> SoftError | Rejected:
    """What a model answered, as a pair with a report, or the first check it failed."""
    fields = _fields(answer)
    if isinstance(fields, Rejected):
        return fields
    if not fields["Cultural Content"].strip().casefold().startswith("yes"):
        return Rejected("not_cultural", fields["Cultural Content"][:80])
    if fields["Severity"].strip().casefold() != severity.value:
        return Rejected("severity", f"asked for {severity}, stated {fields['Severity'][:40]}")
    if _TELLS.search(fields["Explanation"]):
        return Rejected("explanation", "it speaks of the change instead of the error")
    halves = (
        (Location.INSTRUCTION, instruction, fields["Modified Instruction"]),
        (Location.OUTPUT, output, fields["Modified Generated Text"]),
    )
    errors: list[CulturalError] = []
    for location, before, now in halves:
        found = _checked(before, now)
        if isinstance(found, Rejected):
            return found
        errors += [
            CulturalError(
                severity=severity,
                type=fields["Error Type"].strip(),
                location=location,
                span=change.now,
                explanation=fields["Explanation"].strip(),
            )
            for change in found
        ]
    if not errors:
        return Rejected("unchanged", "both texts are as they were")
    if len(errors) > MOST_ERRORS or any(len(error.span) > LONGEST_SPAN for error in errors):
        return Rejected("too_many", f"{len(errors)} differences, not a pointwise change")
    report = ErrorReport(errors=tuple(errors))
    return SoftError(fields["Modified Instruction"], fields["Modified Generated Text"], report)


def _fields(answer: str) -> dict[str, str] | Rejected:
    tail = answer[answer.rfind("OUTPUT:") + len("OUTPUT:") :] if "OUTPUT:" in answer else answer
    start = tail.find("{")
    if start < 0:
        return Rejected("no_json", answer[-80:])
    try:
        found: Any = json.JSONDecoder().raw_decode(tail[start:])[0]
    except (ValueError, RecursionError) as error:
        return Rejected("no_json", str(error)[:120])
    if not isinstance(found, dict) or set(found) != set(KEYS):
        return Rejected(
            "wrong_keys", ", ".join(sorted(map(str, found)))[:120] if isinstance(found, dict) else "not an object"
        )
    if not all(isinstance(value, str) and value.strip() for value in found.values()):
        return Rejected("wrong_keys", "a value is not text or is empty")
    return dict(found)


def _checked(before: str, now: str) -> list[Change] | Rejected:
    if " ".join(before.split()) == " ".join(now.split()):
        return []
    low, high = LENGTH_BOUNDS
    if not low * len(before) <= len(now) <= high * len(before) + 20:
        return Rejected("length", f"{len(before)} characters became {len(now)}")
    found = changes(before, now)
    if (
        found
        and found[-1].end >= len(now.rstrip(" .!?"))
        and not found[-1].before
        and len(words(found[-1].now)) > LONGEST_TAIL
    ):
        return Rejected("appended", found[-1].now[:80])
    if not _same_language(before, now):
        return Rejected("language", now[:80])
    return found


def _same_language(before: str, now: str) -> bool:
    """Whether a language identifier sees the same language in both; on a few words it would only guess."""
    if min(len(before), len(now)) < LANGUAGE_CHARACTERS:
        return True
    import py3langid

    return bool(py3langid.classify(before)[0] == py3langid.classify(now)[0])
