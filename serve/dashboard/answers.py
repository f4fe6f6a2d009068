"""Answers that are kept while they hold, so that many readers of one page cost the store one question."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast

Result = TypeVar("Result")

MOST = 64


class Answers:
    """The last answers by question. Each holds for one version; those who ask while it is being found wait for it."""

    def __init__(self, most: int = MOST) -> None:
        self._most = most
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, _Answer] = OrderedDict()

    def get(self, question: Hashable, version: Hashable, ask: Callable[[], Result]) -> Result:
        """The answer kept for this version, else a new one; a question that fails leaves nothing behind."""
        with self._lock:
            answer = self._known.setdefault(question, _Answer())
            self._known.move_to_end(question)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        with answer.lock:
            if answer.version is _NOTHING or answer.version != version:
                answer.value, answer.version = ask(), version
            return cast("Result", answer.value)


_NOTHING = object()


class _Answer:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.version: Any = _NOTHING
        self.value: Any = None
