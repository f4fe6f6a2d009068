"""Chaos: a stream under steady traffic, hurt at random moments drawn from a seed; then the invariants are counted.

python -m tests.chaos --minutes 30 --kills 100 --seed 7
"""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from excam.fault import UserError
from tests.chaos.invariants import check_everything_is_settled, check_no_commit_is_torn, trend
from tests.chaos.victims import VICTIMS, World, small_disk
from tests.kafka import Kafka
from tests.nodes import Node
from tests.pipelines.stream.conftest import message
from tests.pipelines.stream.driver import run_driver, start_driver

PARTITIONS = 2
POISON_EVERY = 17
FIRST = 4  # messages before anything is hurt


@dataclass
class Report:
    """What was hurt how often, and what went through meanwhile."""

    hurt: Counter[str] = field(default_factory=Counter)
    drivers: int = 0
    pairs: int = 0
    poison: int = 0
    seconds: float = 0.0


def run_chaos(
    kafka: Kafka,
    settings: Any,
    folder: Path,
    *,
    seed: int,
    victims: Sequence[str],
    seconds: float,
    kills: int,
    rate: float,
    node: Node | None = None,
    say: Callable[[str], None] = lambda line: None,
) -> Report:
    """Produce at this rate, hurt one victim after the other at random moments, and check; raises where it fails."""
    with small_disk(folder / "disk") as small:
        world = World(kafka, folder / "disk", random.Random(seed), node=node)
        chosen = [name for name in victims if world.can(name) and (small or name != "disk")]
        topic = kafka.topic(PARTITIONS)
        store_url = f"ducklake:sqlite:{folder}/disk/catalog.sqlite"
        log = folder / "drivers.log"
        report = Report()
        over = threading.Event()

        def keep_driving() -> None:
            """A supervisor, as Kubernetes would be: when a driver has died the next one takes over."""
            while not over.is_set():
                driver = start_driver(kafka, topic, store_url, settings, log, until_caught_up=False, wait=60.0)
                world.driver = driver
                report.drivers += 1
                while driver.is_alive() and not over.is_set():
                    driver.join(0.2)
            driver.terminate()
            driver.join()

        supervisor = threading.Thread(target=keep_driving, daemon=True)
        supervisor.start()
        moments = sorted(world.dice.uniform(0.0, seconds) for _ in range(kills))
        plan = [(moment, world.dice.choice(chosen)) for moment in moments]
        try:
            _produce(kafka, topic, report, FIRST)
            while not _settled(store_url):  # the clock runs from the moment there is something to hurt
                time.sleep(0.5)
            begun = time.monotonic()
            for moment, name in plan:
                while time.monotonic() - begun < moment:
                    _produce(kafka, topic, report, FIRST + (time.monotonic() - begun) * rate)
                    time.sleep(0.2)
                told = VICTIMS[name](world)
                report.hurt[name] += told != "nobody"
                say(f"{time.monotonic() - begun:6.1f} s  {name}: {told}; {_settled(store_url)} offsets settled")
        finally:
            over.set()
            supervisor.join()
        patience = 300.0 + report.pairs  # a second a pair is slow for any judge
        while True:  # a driver may still meet the end of the last disturbance
            code = run_driver(kafka, topic, store_url, settings, log, patience=patience, wait=60.0)
            if code == 0:
                break
            report.drivers += 1
            assert report.drivers < 3 * kills + 10, f"no driver gets through:\n{log.read_text()[-3000:]}"
        check_everything_is_settled(store_url, kafka, topic, report.pairs, report.poison)
        quiet = f"ducklake:sqlite:{folder}/quiet/catalog.sqlite"
        assert run_driver(kafka, topic, quiet, settings, log, patience=patience) == 0
        assert trend(store_url) == trend(quiet), "the trends differ from those of an undisturbed run"
        report.seconds = time.monotonic() - begun
        return report


def _produce(kafka: Kafka, topic: str, report: Report, due: float) -> None:
    """Send what is due by now; pairs are numbered in the order they are sent, and some messages are poison."""
    values: list[bytes] = []
    while report.pairs + report.poison < due:
        if (report.pairs + report.poison) % POISON_EVERY == POISON_EVERY - 1:
            values.append(f"poison {report.poison}".encode())
            report.poison += 1
        else:
            values.append(message(report.pairs))
            report.pairs += 1
    if values:
        kafka.produce(topic, values, partition=lambda number: number % PARTITIONS, acks="all", enable_idempotence=True)


def _settled(store_url: str) -> int:
    with suppress(UserError):  # there is no store before the first driver has made it
        return check_no_commit_is_torn(store_url)
    return 0
