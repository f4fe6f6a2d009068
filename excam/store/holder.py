"""Who holds a lease: enough about a process to say, from another one, whether it is still there."""

from __future__ import annotations

import json
import os
import socket
import uuid
from dataclasses import asdict, dataclass
from functools import cache


@dataclass(frozen=True)
class Holder:
    """A process on a machine. ``instance`` tells a process from a later one that was given the same number."""

    host: str
    pid: int
    instance: str

    def __str__(self) -> str:
        return f"process {self.pid} on {self.host.partition('/')[0]}"

    def dump(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def load(cls, text: str) -> Holder:
        return cls(**json.loads(text))

    def is_surely_gone(self) -> bool:
        """True only when this machine can tell; a holder elsewhere is judged by its heartbeat alone."""
        here = this_process()
        if self.host != here.host:
            return False
        if self.pid == here.pid:
            return self.instance != here.instance
        try:
            os.kill(self.pid, 0)
        except ProcessLookupError:
            return True
        except PermissionError:
            return False
        return False


def this_process() -> Holder:
    """This process; asked anew after a fork, because the child is another holder."""
    return _holder_of(os.getpid())


@cache
def _holder_of(pid: int) -> Holder:
    return Holder(_machine(), pid, uuid.uuid4().hex)


def _machine() -> str:
    """The host and its process namespace: two containers of one name must not test each other's process numbers."""
    try:
        namespace = os.readlink("/proc/self/ns/pid")
    except OSError:
        namespace = ""
    return f"{socket.gethostname()}/{namespace}"
