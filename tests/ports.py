"""Ports for servers that tests start."""

from __future__ import annotations

import random
import socket
from contextlib import ExitStack, suppress

# Below the ports that the system lends to outgoing connections and above those of Ray's workers: a server may take
# seconds until it listens, and nobody is given its port meanwhile.
RANGE = range(20_000, 32_000)


def free_ports(count: int) -> list[int]:
    """So many ports of this machine that nobody listens on, all of them different."""
    ports: list[int] = []
    with ExitStack() as held:
        while len(ports) < count:
            probe = held.enter_context(socket.socket())
            with suppress(OSError):
                probe.bind(("127.0.0.1", random.SystemRandom().choice(RANGE)))
                ports.append(int(probe.getsockname()[1]))
    return ports


def free_port() -> int:
    """One port that nobody listens on."""
    return free_ports(1)[0]
