"""A watcher that does something once a stream is under way, and stops it when enough is settled."""

from __future__ import annotations

import os
import signal
from typing import Any

from pipelines.stream.watch import BatchDone, StreamWatcher


class Paced(StreamWatcher):
    """Does something after the first batch, and stops the stream once so many messages are settled."""

    def __init__(self, messages: int, then: Any) -> None:
        self.left, self.then = messages, then
        self.troubles = self.recoveries = 0

    def settled(self, done: BatchDone) -> None:
        then, self.then = self.then, None
        self.left -= done.messages
        if then is not None:
            then()
        if self.left <= 0:
            os.kill(os.getpid(), signal.SIGTERM)

    def trouble(self, error: BaseException, pause: float) -> None:
        self.troubles += 1

    def recovered(self) -> None:
        self.recoveries += 1
