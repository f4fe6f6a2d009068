"""What can be hurt, and how: each victim is a function that hurts the world once and leaves it able to recover."""

from __future__ import annotations

import errno
import os
import random
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path

import psutil

from tests.kafka import Kafka, wait_until_ready
from tests.nodes import Node

STAGES = ("ray::Screener", "ray::StreamJudge", "ray::ReadKafka")
REPLICA = "ray::ServeReplica:excam-judge"
AWAY_SECONDS = 4.0


@dataclass
class World:
    """What chaos acts on. ``driver`` changes whenever one died and another took its place."""

    kafka: Kafka
    store: Path
    dice: random.Random
    driver: BaseProcess | None = None
    node: Node | None = None

    def can(self, victim: str) -> bool:
        """Whether there is such a victim here."""
        here = {"node": self.node is not None, "network": self.kafka.brokers[0].link is not None}
        return here.get(victim, True)


def kill_driver(world: World) -> str:
    """As the machine it runs on losing power."""
    if world.driver is None or not world.driver.is_alive():
        return "nobody"
    world.driver.kill()
    return f"driver {world.driver.pid}"


def kill_worker(world: World) -> str:
    """One of the processes that read, screen, or call the judge."""
    return _kill_one(world, STAGES)


def kill_replica(world: World) -> str:
    return _kill_one(world, (REPLICA,))


def kill_engine(world: World) -> str:
    """The process below a replica that holds the model, if the engine has one of its own; else the replica."""
    for replica in _processes((REPLICA,)):
        children = replica.children(recursive=True)
        if children:
            engine = max(children, key=lambda child: child.memory_info().rss)
            engine.kill()
            return f"engine {engine.pid}"
    return kill_replica(world)


def kill_broker(world: World) -> str:
    """A broker dies and comes back on the same disk some seconds later."""
    broker = world.dice.choice(world.kafka.brokers)
    broker.kill()
    time.sleep(AWAY_SECONDS)
    broker.start()
    wait_until_ready(world.kafka)
    return f"broker {broker.number} for {AWAY_SECONDS:g} s"


def fill_disk(world: World) -> str:
    """Not a byte is left where the store lies; then there is room again."""
    ballast = world.store / "ballast"
    with ballast.open("wb", buffering=0) as file:
        try:
            while True:
                file.write(bytes(2**16))
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
    time.sleep(AWAY_SECONDS)
    size = ballast.stat().st_size
    ballast.unlink()
    return f"disk, {size / 2**20:.0f} MiB, for {AWAY_SECONDS:g} s"


def delay_network(world: World) -> str:
    """Whatever goes to the brokers or comes from them is late for a while."""
    late = world.dice.uniform(0.2, 2.0)
    for seconds in (late, 0.0):
        for broker in world.kafka.brokers:
            assert broker.link is not None
            broker.link.delay = seconds
        time.sleep(AWAY_SECONDS if seconds else 0)
    return f"network, {late:.1f} s late, for {AWAY_SECONDS:g} s"


def kill_node(world: World) -> str:
    """A node loses power, with its raylet and every worker on it; then one like it joins."""
    assert world.node is not None
    held = [one for one in (*STAGES, REPLICA) if world.node.works_on(one)]
    world.node.kill()
    world.node.start()
    return f"node with {', '.join(held) or 'nothing of the stream'}"


VICTIMS: dict[str, Callable[[World], str]] = {
    "driver": kill_driver,
    "worker": kill_worker,
    "broker": kill_broker,
    "disk": fill_disk,
    "replica": kill_replica,
    "engine": kill_engine,
    "network": delay_network,
    "node": kill_node,
}


def _kill_one(world: World, names: tuple[str, ...]) -> str:
    found = sorted(_processes(names), key=lambda process: process.pid)
    if not found:
        return "nobody"
    victim = world.dice.choice(found)
    told = " ".join(victim.cmdline())[:40]
    victim.kill()
    return told


def _processes(names: tuple[str, ...]) -> list[psutil.Process]:
    """Those of this run: another cluster on this machine is none of our business."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if " ".join(process.cmdline()).startswith(names):
                found.append(process)
    return found


@contextmanager
def small_disk(folder: Path, size: str = "48m") -> Iterator[bool]:
    """A small file system at ``folder``; False where this user may not mount one, and the folder is as any other."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "excam-chaos", str(folder)]
    mounted = os.geteuid() == 0 and subprocess.run(mount, capture_output=True, check=False).returncode == 0
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", "--lazy", str(folder)], check=True)
