"""A file whose bytes cannot be had is not a broken one: it is waited for, and then left to the next run.

A dropped bucket, a mount that is gone or too many open files say nothing of what is in a file. So the stream itself
tells whether it failed: what fails above it is the content, which will fail the same way every time.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import pyarrow as pa
import pyarrow.fs as pafs

from excam.fault import UserError
from pipelines.files import UNREADABLE, open_filesystem, plain

PATIENCE = 300.0  # seconds for which nothing can be read before a file is left to the next run
FIRST_PAUSE, LONGEST_PAUSE = 0.5, 15.0
MOST_AWAY = 8  # files in a row that were waited for in vain: what they lie on is gone, and the others are not tried


class LostError(Exception):
    """The bytes of a file cannot be had at the moment; the text says why."""


class OutOfReachError(UserError):
    """The bytes of a file could not be had for as long as anybody waits."""


class WatchedFile:
    """An open file, as Arrow wants one, that remembers why its bytes could not be had."""

    closed = False

    def __init__(self, stream: pa.NativeFile, info: pafs.FileInfo) -> None:
        self._stream = stream
        self.info = info
        self.lost: OSError | None = None
        self.seek, self.tell, self.close = stream.seek, stream.tell, stream.close

    def read(self, size: int) -> pa.Buffer:
        """The next bytes, which are not copied."""
        try:
            return self._stream.read_buffer(size)
        except OSError as error:
            self.lost = error
            raise


@contextmanager
def reached(uri: str) -> Iterator[WatchedFile]:
    """The file, open. Whatever fails in the block because its bytes cannot be had is a :class:`LostError`."""
    try:
        filesystem, path = open_filesystem(uri)
        info = filesystem.get_file_info(path)
        stream = filesystem.open_input_file(path)
    except (*UNREADABLE, UserError) as error:
        raise LostError(plain(error)) from error
    with stream:
        file = WatchedFile(stream, info)
        try:
            yield file
        except UNREADABLE as error:
            if file.lost is None:
                raise
            raise LostError(plain(file.lost)) from error


class Patience:
    """How long a reader waits for files that are out of reach, counted anew whenever one can be read."""

    def __init__(self, seconds: float = PATIENCE) -> None:
        self._seconds = seconds
        self.reward()

    def reward(self) -> None:
        """Something could be read."""
        self._until: float | None = None
        self._pause = FIRST_PAUSE
        self._away: set[str] = set()

    def ask(self, uri: str) -> None:
        """Refuse to try a file when many before it were out of reach: each try may take long."""
        if len(self._away) >= MOST_AWAY:
            raise out_of_reach({uri: f"{uri} is out of reach, as {MOST_AWAY} files before it were"})

    def wait(self, uri: str, error: LostError) -> None:
        """Pause before another try, each time for longer, or give the file up."""
        now = time.monotonic()
        self._until = now + self._seconds if self._until is None else self._until
        if now >= self._until:
            self._away.add(uri)
            raise out_of_reach({uri: f"{uri} is out of reach: {error}"}) from error
        time.sleep(min(self._pause, self._until - now))
        self._pause = min(2 * self._pause, LONGEST_PAUSE)


def out_of_reach(files: Mapping[str, str]) -> OutOfReachError:
    """What to tell a user: the first file with what was said of it, and how many more there are."""
    first = next(iter(files.values()))
    fix = "run this again once it can be read: what was left out is not marked as done, and the next run takes it"
    return OutOfReachError(first + (f" (the first of {len(files)} files)" if len(files) > 1 else ""), fix)
