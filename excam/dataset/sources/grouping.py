"""Names the groups that must stay in one split: records that share a question, a story or a post, however linked."""

from __future__ import annotations

import hashlib
from collections.abc import Hashable


def digest(*parts: str) -> str:
    """A short stable name for a text, the same in every run and on every machine."""
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:16]


class Groups:
    """Joins keys that belong together and names each joined set by its smallest key, whatever the order of joining."""

    def __init__(self) -> None:
        self._above: dict[Hashable, Hashable] = {}

    def _top(self, key: Hashable) -> Hashable:
        above = self._above.setdefault(key, key)
        while above != key:
            self._above[key] = self._above[above]
            key, above = above, self._above[above]
        return key

    def join(self, *keys: str) -> None:
        """Say that these keys belong to one group."""
        tops = sorted({str(self._top(key)) for key in keys})
        for top in tops[1:]:
            self._above[top] = tops[0]

    def name(self, key: str) -> str:
        """The smallest key of the group that ``key`` is in."""
        return str(self._top(key))
