"""Starting a cluster in a folder of its own, and waiting until it is there."""

from __future__ import annotations

import base64
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from confluent_kafka import KafkaException

from tests.kafka.broker import Broker, kafka_jars
from tests.kafka.topics import Kafka
from tests.link import SlowLink
from tests.ports import free_ports

START_SECONDS = 180.0


@contextmanager
def running_kafka(
    brokers: int = 1,
    *,
    extra: Mapping[str, str] | None = None,
    format_arguments: Sequence[str] = (),
    client: Mapping[str, Any] | None = None,
    listener: str = "PLAINTEXT",
    slow_links: bool = False,
) -> Iterator[Kafka]:
    """Format and start a cluster in a temporary folder, and leave nothing behind."""
    home = Path(tempfile.mkdtemp(prefix="excam-kafka-"))
    # The first byte is zero, for an id that began with a dash would be taken for an option.
    cluster_id = base64.urlsafe_b64encode(b"\0" + secrets.token_bytes(15)).decode().rstrip("=")
    free = free_ports(3 * brokers)
    controllers, ports, behind = free[:brokers], free[brokers : 2 * brokers], free[2 * brokers :]
    voters = ",".join(f"{number + 1}@127.0.0.1:{port}" for number, port in enumerate(controllers))
    nodes = []
    try:
        for index in range(brokers):
            node = Broker(index + 1, ports[index], home / f"broker-{index + 1}")
            node.folder.mkdir()
            if slow_links:
                node.link = SlowLink(node.port, behind[index])
            own = behind[index] if slow_links else node.port
            settings = _settings(node, own, controllers[index], voters, brokers, listener) | dict(extra or {})
            lines = "".join(f"{name}={value}\n" for name, value in settings.items())
            (node.folder / "server.properties").write_text(lines)
            nodes.append(node)
        tool = ["java", "-XX:TieredStopAtLevel=1", "-cp", f"{kafka_jars()}/*", "kafka.tools.StorageTool"]
        formats = [
            subprocess.Popen(
                [*tool, "format", "-t", cluster_id, "-c", "server.properties", *format_arguments],
                cwd=node.folder,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            for node in nodes
        ]
        for process in formats:
            said, _ = process.communicate()
            assert process.returncode == 0, f"the storage of a broker could not be formatted: {said}"
        for node in nodes:
            node.start()
        kafka = Kafka(nodes, dict(client or {}))
        wait_until_ready(kafka)
        yield kafka
    finally:
        for node in nodes:
            if node.process is not None and node.process.poll() is None:
                node.kill()
            if node.link is not None:
                node.link.close()
        shutil.rmtree(home, ignore_errors=True)


def _settings(node: Broker, own: int, controller: int, voters: str, brokers: int, listener: str) -> dict[str, str]:
    copies = str(min(brokers, 3))
    return {
        "process.roles": "broker,controller",
        "node.id": str(node.number),
        "controller.quorum.voters": voters,
        "listeners": f"{listener}://127.0.0.1:{own},CONTROLLER://127.0.0.1:{controller}",
        "advertised.listeners": f"{listener}://127.0.0.1:{node.port}",
        "inter.broker.listener.name": listener,
        "controller.listener.names": "CONTROLLER",
        "listener.security.protocol.map": f"CONTROLLER:PLAINTEXT,{listener}:{listener}",
        "log.dirs": str(node.folder / "data"),
        "offsets.topic.replication.factor": copies,
        "offsets.topic.num.partitions": "1",
        "transaction.state.log.replication.factor": copies,
        "transaction.state.log.num.partitions": "1",
        "transaction.state.log.min.isr": "1",
        "min.insync.replicas": "1",
        "group.initial.rebalance.delay.ms": "0",
        "message.max.bytes": "10000000",
        "replica.fetch.max.bytes": "10000000",
        "log.retention.check.interval.ms": "500",
        "log.cleaner.backoff.ms": "200",
        "log.cleaner.dedupe.buffer.size": "4194304",
        "auto.create.topics.enable": "false",
    }


def wait_until_ready(kafka: Kafka) -> None:
    """Until every broker that should be there is."""
    deadline = time.monotonic() + START_SECONDS
    admin = kafka.admin()
    while True:
        try:
            if len(admin.list_topics(timeout=2).brokers) == len(kafka.brokers):
                return
        except KafkaException:
            pass
        dead = [broker for broker in kafka.brokers if broker.process is None or broker.process.poll() is not None]
        if dead or time.monotonic() > deadline:
            logs = "\n".join((broker.folder / "log").read_text()[-1500:] for broker in kafka.brokers)
            raise RuntimeError(f"Kafka did not start:\n{logs}")
        time.sleep(0.1)
