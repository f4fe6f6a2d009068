"""A stream in a process of its own, which a test may kill; it joins the Ray cluster and the judge that tests share."""

from __future__ import annotations

import multiprocessing
import os
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

import ray

from excam.fault_point import VARIABLE
from tests.kafka import Kafka

# Imported once, in a process from which every driver is forked: a driver is then up in a moment.
_forks = multiprocessing.get_context("forkserver")
_forks.set_forkserver_preload(["torch", "ray.data", "ray.serve", "pipelines.stream.run", "serve.start"])


def run_driver(
    kafka: Kafka,
    topic: str,
    store_url: str,
    settings: Any,
    log: Path,
    fault: str = "",
    *,
    patience: float = 300.0,
    **changes: Any,
) -> int:
    """Run a stream until it is caught up or dies of the fault; its exit code, negative for a signal."""
    process = start_driver(kafka, topic, store_url, settings, log, fault, **changes)
    process.join(patience)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise TimeoutError(f"the driver did not end; it said:\n{log.read_text()[-3000:]}")
    return int(process.exitcode)


def start_driver(
    kafka: Kafka, topic: str, store_url: str, settings: Any, log: Path, fault: str = "", **changes: Any
) -> BaseProcess:
    """Start a stream in a process of its own."""
    environment = {"RAY_ADDRESS": ray.get_runtime_context().gcs_address, "RAY_AUTH_MODE": "token"}
    environment |= {VARIABLE: fault} if fault else {}
    process = _forks.Process(
        target=_drive, args=(kafka.bootstrap, topic, store_url, settings, environment, str(log), changes)
    )
    process.start()
    return process


def _drive(
    bootstrap: str,
    topic: str,
    store_url: str,
    settings: Any,
    environment: dict[str, str],
    log: str,
    changes: dict[str, Any],
) -> None:
    said = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.dup2(said, 1)
    os.dup2(said, 2)
    os.environ.update(environment)
    from pipelines.stream.run import stream_topic
    from pipelines.stream.settings import KafkaAccess, StreamOptions

    chosen = {"gate": False, "until_caught_up": True} | changes
    options = StreamOptions(topic, KafkaAccess(bootstrap), **chosen)
    stream_topic(options, store_url, settings)
