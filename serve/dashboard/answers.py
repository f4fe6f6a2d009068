"""Answers that are kept while they hold, so that many readers of one page cost the store one question."""

from __future__ import annotations

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar, cast

Result = TypeVar("Result")

MOST = 64


class Answers:
    """The last answers by question. Each holds for one version; those who ask while it is being found wait for it.

    With ``patience`` an answer of an older version still serves while it is no older than that many seconds and the new
    one is being found behind it: beside a writer that commits all the time, nobody waits for every commit.
    """

    def __init__(self, most: int = MOST, clock: Callable[[], float] = time.monotonic) -> None:
        self._most = most
        self._clock = clock
        self._lock = threading.Lock()
        self._known: OrderedDict[Hashable, _Answer] = OrderedDict()
        self._behind = ThreadPoolExecutor(1, "excam-answers")

    def get(self, question: Hashable, version: Hashable, ask: Callable[[], Result], patience: float = 0.0) -> Result:
        """The answer kept for this version, else a new one; a question that fails leaves nothing behind."""
        with self._lock:
            answer = self._known.setdefault(question, _Answer())
            self._known.move_to_end(question)
            while len(self._known) > self._most:
                self._known.popitem(last=False)
        with answer.lock:
            if answer.version != version or answer.version is None:
                if answer.version is not None and self._clock() - answer.found_at < patience:
                    self._renew(answer, version, ask)
                else:
                    answer.keep(ask(), version, self._clock())
            return cast("Result", answer.value)

    def forget(self) -> None:
        """Keep nothing: whoever has just written wants to see it."""
        with self._lock:
            self._known.clear()

    def close(self) -> None:
        self._behind.shutdown(wait=False, cancel_futures=True)

    def _renew(self, answer: _Answer, version: Hashable, ask: Callable[[], Any]) -> None:
        if answer.is_renewed:
            return
        answer.is_renewed = True

        def renew() -> None:
            try:
                value, found_at = ask(), self._clock()
                with answer.lock:
                    answer.keep(value, version, found_at)
            finally:
                answer.is_renewed = False

        self._behind.submit(renew)


class _Answer:
    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.version: Hashable = None
        self.value: Any = None
        self.found_at = 0.0
        self.is_renewed = False

    def keep(self, value: Any, version: Hashable, found_at: float) -> None:
        self.value, self.version, self.found_at = value, version, found_at
