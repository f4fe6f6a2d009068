"""More nodes than one for tests: a raylet of its own on this machine, with workers of its own, that can lose power."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import ray
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy


class Tenant:
    """Holds CPUs and does nothing."""

    def ready(self) -> bool:
        return True


def fill_this_node() -> Any:
    """A tenant of all that is free on this process's node, so that whatever starts next must go to another one."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=False)
    free = ray.available_resources()["CPU"]
    tenant = ray.remote(Tenant).options(num_cpus=free, scheduling_strategy=here).remote()
    assert ray.get(tenant.ready.remote())
    return tenant


class Node:
    """A second node of the cluster that this process has joined."""

    def __init__(self, log: Path) -> None:
        self._log = log
        self.start()

    def start(self) -> None:
        """Join, and be seen; of one that died the cluster must have heard."""
        wait_for(lambda: living_nodes() == 1)
        address = ray.get_runtime_context().gcs_address
        size = ["--node-ip-address=127.0.0.1", "--num-cpus=2", f"--object-store-memory={120 * 2**20}"]
        with self._log.open("ab") as said:
            self._process = subprocess.Popen(
                [Path(sys.executable).with_name("ray"), "start", f"--address={address}", "--block", *size],
                env=os.environ | {"RAY_AUTH_MODE": "token"},
                stdout=said,
                stderr=said,
            )
        wait_for(lambda: living_nodes() == 2, lambda: self._log.read_text()[-2000:])

    def processes(self) -> list[psutil.Process]:
        return psutil.Process(self._process.pid).children(recursive=True)

    def works_on(self, stage: str) -> bool:
        for process in self.processes():
            with suppress(psutil.NoSuchProcess):
                if stage in " ".join(process.cmdline()):
                    return True
        return False

    def kill(self) -> None:
        """As a power cut would: the raylet and all its workers, at once."""
        if self._process.poll() is None:
            for process in self.processes():
                with suppress(psutil.NoSuchProcess):
                    process.kill()
            self._process.kill()
            self._process.wait()


def living_nodes() -> int:
    return sum(node["Alive"] for node in ray.nodes())


def wait_for(condition: Callable[[], bool], said: Callable[[], str] = str) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError(f"it did not happen: {said()}")
        time.sleep(0.1)
