"""Being told to end: SIGTERM, which init systems and Kubernetes send, is Ctrl-C for a run."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Terminated(KeyboardInterrupt):
    """SIGTERM came: what is committed stays, and the store is given back on the way out."""


def interrupt_of(error: BaseException | None) -> KeyboardInterrupt | None:
    """The interrupt that an exception comes from: DuckDB wraps what a signal raises in the midst of a query."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__
    return error


@contextmanager
def sigterm_interrupts() -> Iterator[None]:
    """While the block runs, the first SIGTERM raises in the main thread and later ones disturb nothing.

    Without it the process would die where it stands, and whoever comes next would wait for the lease to expire.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: FrameType | None) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise Terminated

    before = signal.signal(signal.SIGTERM, stop)
    try:
        yield
    except Exception as error:
        interrupt = interrupt_of(error)
        if interrupt is None:
            raise
        raise type(interrupt) from error
    finally:
        signal.signal(signal.SIGTERM, before if before is not None else signal.SIG_DFL)
