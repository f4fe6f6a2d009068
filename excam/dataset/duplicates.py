"""Near-duplicates: the same question in other words must not stand on both sides of a split.

Groups (a question, story or post) whose texts share most of their character shingles become one component. MinHash
finds the candidates and the exact Jaccard similarity decides, so a component never rests on a hash collision.
"""

from __future__ import annotations

import re
import unicodedata
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from excam.dataset.item import Item
from excam.dataset.place import country_name
from excam.dataset.sources.grouping import Groups

SIMILAR = 0.7
SHINGLE = 5
SKETCH = 255
MISSED = 1e-4
"""The share of pairs just alike enough that may agree in no band of their sketches."""

_NOT_WORDS = re.compile(r"\W+")
_GENERIC_STEMS = frozenset({"exams", "include", "atlas-school"})
"""Exams ask "Which of these is true?" a hundred times: there the options are part of the question."""
_SET_TOGETHER = {
    **dict.fromkeys(("hr", "sr", "it"), "Croatia"),
    **dict.fromkeys(("mk", "sq", "tr"), "North Macedonia"),
    **dict.fromkeys(("hu", "de", "fr", "es"), "Hungary"),
}
"""Languages in which EXAMS holds translations of the same exam papers, with the options in another order."""


def essence(item: Item) -> str:
    """What is asked, apart from the country it is asked about: BLEnD asks one question for sixteen countries."""
    text = item.question
    if item.source in _GENERIC_STEMS:
        text = " ".join((text, *sorted(item.options)))
    elif item.source == "epic":
        text = f"{item.context or ''} {text.partition(': ')[2]}"
    country = country_name(item.country)
    if country:
        text = re.sub(rf"\b(the )?{re.escape(country)}\b", " ", text, flags=re.IGNORECASE)
    return _NOT_WORDS.sub(" ", unicodedata.normalize("NFKC", text).casefold()).strip()


def kin(item: Item) -> str | None:
    """What joins an item to its translations, which no shingle can see: the examiners and the subject of the paper."""
    if item.source != "exams" or not item.cultural or (item.language == "tr" and len(item.options) > 4):
        return None
    examiners = _SET_TOGETHER.get(item.language)
    return f"{examiners}: {item.topic}" if examiners else None


@lru_cache(maxsize=1024)  # texts that look alike are compared with many, one after the other
def shingles(text: str) -> frozenset[str]:
    """The overlapping character five-grams of a text: they work in every script."""
    return frozenset(text[start : start + SHINGLE] for start in range(max(1, len(text) - SHINGLE + 1)))


def jaccard(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of shingles that two texts have in common."""
    return len(one & other) / (len(one | other) or 1)


def _sketches(texts: Iterable[str]) -> npt.NDArray[np.uint32]:
    """The MinHash sketch of every text, one row a text."""
    from datasketch import MinHash

    encoded = ([part.encode("utf-8", "replace") for part in shingles(text)] for text in texts)
    made = MinHash.generator(encoded, num_perm=SKETCH, hashfunc=zlib.crc32)
    rows = [sketch.hashvalues.astype(np.uint32) for sketch in made]
    return np.stack(rows) if rows else np.empty((0, SKETCH), np.uint32)


def _band(similar: float) -> int:
    """How many values make a band: five at SIMILAR, fewer where texts less alike must be found as surely."""
    return next((width for width in range(5, 1, -1) if (1 - similar**width) ** (SKETCH // width) < MISSED), 1)


def near_duplicates(texts: Sequence[str], similar: float = SIMILAR) -> Iterator[tuple[str, str]]:
    """Pairs of texts at least ``similar`` that join all there are such pairs of, as MinHash finds them.

    Texts that agree in a band of their sketches are compared by Jaccard, unless other pairs have joined them already:
    of thousands of texts nearly equal each is compared once. One band at a time keeps the memory small.
    """
    sketches, width = _sketches(texts), _band(similar)
    joined, unlike = Groups(), set[tuple[int, int]]()

    def alike(one: int, other: int) -> bool:
        pair = min(one, other), max(one, other)
        if pair in unlike:
            return False
        if jaccard(shingles(texts[one]), shingles(texts[other])) >= similar:
            return True
        unlike.add(pair)
        return False

    for start in range(0, SKETCH - width + 1, width):
        buckets: dict[bytes, dict[str, list[int]]] = {}
        for place, row in enumerate(sketches[:, start : start + width]):
            bucket = buckets.setdefault(row.tobytes(), {})
            bucket.setdefault(joined.name(texts[place]), []).append(place)
        for bucket in buckets.values():
            for one, other in _links(list(bucket.values()), alike):
                joined.join(texts[one], texts[other])
                yield texts[one], texts[other]


def _links(parts: list[list[int]], alike: Callable[[int, int], bool]) -> Iterator[tuple[int, int]]:
    """Pairs that join parts with something alike; members of one part, or of parts just joined, are not compared."""
    while parts:
        reached = parts.pop()
        for one in reached:  # which grows by every part it is joined with
            apart = []
            for part in parts:
                other = next((place for place in part if alike(one, place)), None)
                if other is None:
                    apart.append(part)
                else:
                    yield one, other
                    reached += part
            parts = apart


def components(items: Iterable[Item], similar: float = SIMILAR) -> dict[str, str]:
    """The component of every group: the unit that a split may not cut. With 1 near-duplicates and kin may part."""
    joined = Groups()
    group_of: dict[str, str] = {}
    kin_of: dict[str, str] = {}
    groups: set[str] = set()
    for item in items:
        groups.add(item.group)
        joined.join(group_of.setdefault(essence(item), item.group), item.group)
        if similar < 1 and (family := kin(item)):
            joined.join(kin_of.setdefault(family, item.group), item.group)
    for one, other in near_duplicates(sorted(group_of), similar):
        joined.join(group_of[one], group_of[other])
    return {group: joined.name(group) for group in sorted(groups)}
