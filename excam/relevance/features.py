"""A pair as hashed words: what the gate's linear model adds up, computed for hundreds of pairs in one go.

Texts are joined, turned into an array of code points and folded by a table (case, accents, digits, punctuation). Words,
their beginnings and their neighbours are then hashed by array arithmetic alone; in scripts that do not put spaces
between words, two and three characters in a row stand in for them. No Python runs per word: that is the speed.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Pair = tuple[str, str]
Codes = npt.NDArray[np.uint16]
Hashes = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]

BITS = 22
BUCKETS = 1 << BITS
BATCH = 256

# How much of a pair is read: what is asked stands at the beginning or, after a long context, at the end.
INSTRUCTION_HEAD, INSTRUCTION_TAIL, OUTPUT_HEAD = 300, 150, 250
STEMS = (4, 6)
ROOT = 0.5

SPACE, DIGIT = 32, 48
FIRST_UNSPACED = 0x0E00  # Thai and everything after it: Ethiopic, Japanese, Chinese, Korean …
HANGUL = range(0xAC00, 0xD7A4)
SYMBOLS = ("{}[]()", "=", ";", "<>", "`", "_", "/\\", "#", "+*^|&~", "$%")
GAP = "    "  # longer than any run of characters that is hashed, so that none reaches into the next text

CHARACTER = np.uint64(0xD6E8FEB86659FD93)
SPREAD = np.uint64(0xFF51AFD7ED558CCD)
FINISH = np.uint64(0xC4CEB9FE1A85EC53)
HALF = np.uint64(32)
TOP = np.uint64(64 - BITS)
POWERS = np.cumprod(np.full(64, 0x9E3779B97F4A7C15, np.uint64))

WORD, PAIR_OF_WORDS, TWO, THREE, SYMBOL = range(5)
STEM = 16


class Features(NamedTuple):
    """One entry for each feature of a batch: the bucket it falls into and the pair it belongs to."""

    buckets: Places
    rows: Places
    pairs: int

    def norms(self) -> npt.NDArray[np.float64]:
        """What each pair's features are divided by: the root of their number, so that length alone decides nothing."""
        return np.maximum(np.bincount(self.rows, minlength=self.pairs), 1) ** ROOT


def _fold(code: int) -> int:
    character = chr(code)
    for number, group in enumerate(SYMBOLS, start=SPACE + 1):
        if character in group:
            return number
    category = unicodedata.category(character)
    if category == "Nd":
        return DIGIT
    if category[0] not in "LM":
        return SPACE
    if code in HANGUL:
        return code
    return ord(unicodedata.normalize("NFKD", character.lower())[0]) & 0xFFFF


@cache
def _fold_table() -> Codes:
    """Folded form of every code point of the basic plane: letters plain, symbols of code in ten classes, else space."""
    return np.fromiter((_fold(code) for code in range(0x10000)), np.uint16, 0x10000)


def _window(pair: Pair) -> str:
    """What is read of a pair, each letter as one character however it was encoded."""
    instruction, output = pair
    if len(instruction) > INSTRUCTION_HEAD + INSTRUCTION_TAIL:
        instruction = f"{instruction[:INSTRUCTION_HEAD]} {instruction[-INSTRUCTION_TAIL:]}"
    return unicodedata.normalize("NFC", f"{instruction}{GAP}{output[:OUTPUT_HEAD]}{GAP}")


def _buckets(hashes: Hashes, kind: int) -> Places:
    mixed = (hashes ^ np.uint64(kind)) * SPREAD
    mixed ^= mixed >> HALF
    mixed *= FINISH
    return (mixed >> TOP).astype(np.int64)


def features(pairs: Sequence[Pair]) -> Features:
    """Every feature of a batch of pairs; any text will do, broken Unicode included, and only its windows are read."""
    texts = [_window(pair) for pair in pairs]
    ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
    points = np.frombuffer("".join([*texts, GAP]).encode("utf-32-le", "surrogatepass"), np.uint32)
    codes = _fold_table()[np.minimum(points, 0xFFFF)]

    in_word = codes >= DIGIT
    edges = np.flatnonzero(in_word[1:] != in_word[:-1]) + 1
    if in_word[0]:
        edges = np.concatenate([[0], edges])
    starts, stops = edges[0::2], edges[1::2]

    # Hash of a stretch of a word: the sum of its characters, each multiplied by the power of its place in the word.
    begins = np.zeros(len(codes), np.int64)
    begins[starts] = starts
    place = np.arange(len(codes)) - np.maximum.accumulate(begins)
    characters = (codes.astype(np.uint64) + np.uint64(1)) * CHARACTER
    sums = np.concatenate([np.zeros(1, np.uint64), np.cumsum(characters * POWERS[np.minimum(place, 63)])])

    spaced = codes[starts] < FIRST_UNSPACED
    starts, stops = starts[spaced], stops[spaced]
    stops = np.where(codes[starts] == DIGIT, starts + 1, stops)  # one number is like another
    words = sums[stops] - sums[starts]
    near = starts[1:] - stops[:-1] < len(GAP)
    wordy = codes[starts] != DIGIT
    found = [
        (_buckets(words[wordy], WORD), starts[wordy]),
        (_buckets(words[:-1][near] * SPREAD + words[1:][near], PAIR_OF_WORDS), starts[:-1][near]),
    ]
    for length in STEMS:
        longer = starts[stops - starts > length]
        found.append((_buckets(sums[longer + length] - sums[longer], STEM + length), longer))
    unspaced = codes >= FIRST_UNSPACED
    if unspaced.any():
        two = np.flatnonzero(unspaced[:-1] & unspaced[1:])
        pairs_of = characters[two] * POWERS[0] + characters[two + 1] * POWERS[1]
        three = unspaced[two + 2] if len(two) else np.zeros(0, bool)
        found.append((_buckets(pairs_of, TWO), two))
        found.append((_buckets(pairs_of[three] + characters[two[three] + 2] * POWERS[2], THREE), two[three]))
    symbols = np.flatnonzero((codes > SPACE) & (codes < DIGIT))
    found.append((_buckets(characters[symbols], SYMBOL), symbols))

    rows = np.searchsorted(ends, np.concatenate([where for _, where in found]), side="right")
    return Features(np.concatenate([buckets for buckets, _ in found]), rows, len(texts))
