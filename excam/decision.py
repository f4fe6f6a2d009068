"""The decision is one token: which token it is for a given tokenizer, and how sure the judge was of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from excam.prompt import Tokenizer
from excam.report import CORRECT_REPORT, NOT_APPLICABLE_REPORT, OPENING, Status

ERROR_OPENING = f'{OPENING} [{{"severity": "'


@dataclass(frozen=True)
class DecisionTokens:
    """``opening`` is what every report begins with; then comes one token that decides the status."""

    opening: tuple[int, ...]
    by_status: Mapping[Status, int]
    correct_report: tuple[int, ...]
    not_applicable_report: tuple[int, ...]

    @classmethod
    def of(cls, tokenizer: Tokenizer) -> DecisionTokens:
        """Find them by encoding the three ways a report can begin and looking where they part."""

        def ids(text: str) -> list[int]:
            return list(tokenizer(text, add_special_tokens=False)["input_ids"])

        reports = {
            Status.CORRECT: ids(CORRECT_REPORT.render()),
            Status.ERROR: ids(ERROR_OPENING),
            Status.NOT_APPLICABLE: ids(NOT_APPLICABLE_REPORT.render()),
        }
        depth = next(
            index
            for index, tokens in enumerate(zip(*reports.values(), strict=False))
            if len(set(tokens)) == len(reports)
        )
        if len({tuple(tokens[:depth]) for tokens in reports.values()}) != 1:
            raise ValueError("this tokenizer splits the decision over several tokens; it cannot be read from one")
        return cls(
            opening=tuple(reports[Status.CORRECT][:depth]),
            by_status={status: tokens[depth] for status, tokens in reports.items()},
            correct_report=tuple(reports[Status.CORRECT]),
            not_applicable_report=tuple(reports[Status.NOT_APPLICABLE]),
        )

    @property
    def longest_clean(self) -> int:
        """Tokens that suffice to write a report without errors, its end included."""
        return max(len(self.correct_report), len(self.not_applicable_report)) + 1
