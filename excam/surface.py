"""Faults one sees without understanding the answer: it is in another language than the question, or it repeats itself.

Both are CaLMQA's (Arora et al., 2025, section 4 and appendix C): an answer must be in the language of the question, and
is repetitive when a sequence of 20 tokens occurs in it four times or more. No model is needed, so every pair gets them.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass

import numpy as np

from excam.language import UNKNOWN, language_of

SEQUENCE, TIMES = 20, 4
LOOKED_AT = 200_000  # characters that are read: beyond any answer, so that a huge field does not hold up the others

# The paper counts tokens of tiktoken's o200k_base, which is fetched over the network. These stand in for it, cut about
# as finely: a character of a script without spaces, six letters or digits of a word, a run of the same sign.
_TOKENS = re.compile(
    r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]|[^\W_]{1,6}|([^\w\s]|_)\1*"
)
# Of a sequence that occurs four times, overlapping or not, this many tokens at least are repeats of an earlier token.
_FEWEST_REPEATS = SEQUENCE + 2

# Languages the identifier mistakes for each other: a switch among them cannot be told from its mistakes.
_ALIKE = {
    language: group
    for group in ("hr sr bs", "id ms", "no nn da", "rw rn", "zu xh", "bg mk", "pt gl", "hi mr ne sa")
    for language in group.split()
}


@dataclass(frozen=True)
class Surface:
    """Whether an answer shows either fault."""

    wrong_language: bool
    repetition: bool


def surface_of(
    instruction: str,
    output: str,
    instruction_language: str | None = None,
    output_language: str | None = None,
) -> Surface:
    """Both faults of one pair; languages already known are not identified again.

    A language that cannot be known never counts as wrong. Like CaLMQA it does not ask whether the instruction wanted
    another language: a request to translate reads as a wrong language.
    """
    asked = instruction_language or language_of(instruction)
    answered = output_language or language_of(output)
    known = UNKNOWN not in (asked, answered)
    alike = _ALIKE.get(asked, asked) == _ALIKE.get(answered, answered)
    return Surface(wrong_language=known and not alike, repetition=repeats(output))


def repeats(text: str) -> bool:
    """Whether any sequence of 20 tokens occurs four times or more, in time linear in the text but for one sort."""
    tokens = [match[0] for match in _TOKENS.finditer(text[:LOOKED_AT])]
    seen: dict[str, int] = {}
    numbers = [seen.setdefault(token, len(seen)) for token in tokens]
    if len(tokens) - len(seen) < _FEWEST_REPEATS:
        return False
    sums = _sequence_sums(np.asarray(numbers, dtype=np.uint64))
    order = np.argsort(sums, kind="stable")
    ranked = sums[order]
    # Equal sums that stand TIMES in a row are candidates; the tokens themselves decide, for sums can collide.
    starts = np.flatnonzero(ranked[TIMES - 1 :] == ranked[: len(ranked) - TIMES + 1])
    last = None
    for start in starts:
        if ranked[start] == last:
            continue
        last = ranked[start]
        end = int(np.searchsorted(ranked, last, side="right"))
        found = Counter(tuple(numbers[place : place + SEQUENCE]) for place in order[start:end].tolist())
        if found.most_common(1)[0][1] >= TIMES:
            return True
    return False


def _sequence_sums(numbers: np.ndarray[tuple[int], np.dtype[np.uint64]]) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """A polynomial of every 20 tokens in a row, modulo 2**64: 16 by doubling four times, and 4 more."""
    base = 0x9E3779B97F4A7C15
    sums, width, fours = numbers * np.uint64(0xBF58476D1CE4E5B9) + np.uint64(1), 1, numbers
    while width < 16:
        sums = sums[:-width] * np.uint64(pow(base, width, 2**64)) + sums[width:]
        width *= 2
        if width == 4:
            fours = sums
    return sums[:-4] * np.uint64(pow(base, 4, 2**64)) + fours[16:]
