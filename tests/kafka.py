"""A real Apache Kafka for tests: KRaft brokers on loopback from the published jars, fetched once by Maven and cached.

One broker serves most tests; three serve those that kill one. Nothing outlives the test session.
"""

from __future__ import annotations

import base64
import hashlib
import os
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewPartitions, NewTopic  # type: ignore[attr-defined]  # its stubs are incomplete

from excam.models.cache import cache_root
from tests.link import SlowLink
from tests.ports import free_ports

POM = Path(__file__).with_name("kafka_server") / "pom.xml"
START_SECONDS = 60.0


def kafka_jars() -> Path:
    """The folder with Kafka's jars; fetched by Maven when this version of this pom was never fetched before.

    EXCAM_TEST_KAFKA names another version than the pom's, to see whether the tests hold on it too.
    """
    for command, package in (("java", "openjdk-17-jre-headless"), ("mvn", "maven")):
        if shutil.which(command) is None:
            raise RuntimeError(f"tests with Kafka need {command}; install it with: apt-get install -y {package}")
    cache = cache_root() / "kafka"
    version = os.environ.get("EXCAM_TEST_KAFKA", "")
    folder = cache / hashlib.sha256(POM.read_bytes() + version.encode()).hexdigest()[:12]
    if not folder.is_dir():
        cache.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(dir=cache))
        fetch = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={making}"]
        fetch += [f"-Dkafka.version={version}"] if version else []
        subprocess.run(fetch, check=True, cwd=making)
        making.chmod(0o755)
        os.replace(making, folder)
    return folder


@dataclass
class Broker:
    """One node, broker and controller at once; it can be killed and started again on the same port and data."""

    number: int
    port: int
    folder: Path
    process: subprocess.Popen[bytes] | None = None
    link: SlowLink | None = None  # between it and everybody else, where a test wants to slow the network down

    def start(self, heap: str = "256m") -> None:
        # The serial collector and no second compiler: less speed, and far less of the machine's two cores at the start.
        options = [f"-Xmx{heap}", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"]
        quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn"
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                ["java", *options, quiet, "-cp", f"{kafka_jars()}/*", "kafka.Kafka", "server.properties"],
                cwd=self.folder,
                stdout=log,
                stderr=log,
            )

    def kill(self) -> None:
        """As a power cut would: no goodbye to anybody."""
        assert self.process is not None
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def pause(self) -> None:
        """The machine hangs: connections stay open and nothing answers."""
        assert self.process is not None
        self.process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self.process is not None
        self.process.send_signal(signal.SIGCONT)


@dataclass
class Kafka:
    """A running cluster and the few things tests do with it."""

    brokers: list[Broker]
    client: dict[str, Any] = field(default_factory=dict)

    @property
    def bootstrap(self) -> str:
        return ",".join(f"127.0.0.1:{broker.port}" for broker in self.brokers)

    @property
    def config(self) -> dict[str, Any]:
        # Loopback needs no patience between attempts.
        quick = {"reconnect.backoff.ms": 20, "reconnect.backoff.max.ms": 200, "log_level": 2}
        return {"bootstrap.servers": self.bootstrap} | quick | self.client

    def admin(self) -> AdminClient:
        return AdminClient(self.config)

    def topic(self, partitions: int = 1, config: Mapping[str, str] | None = None, name: str = "") -> str:
        """A new topic with a name of its own, replicated to every broker."""
        name = name or f"logs-{secrets.token_hex(4)}"
        new = NewTopic(name, partitions, len(self.brokers), config=dict(config or {}))
        admin = self.admin()  # held until the answer is there: without it the question is dropped
        admin.create_topics([new])[name].result(30)
        self._wait_for_partitions(name, partitions)
        return name

    def grow(self, topic: str, partitions: int) -> None:
        """Give a topic more partitions."""
        admin = self.admin()
        admin.create_partitions([NewPartitions(topic, partitions)])[topic].result(30)
        self._wait_for_partitions(topic, partitions)

    def delete(self, topic: str) -> None:
        """Delete a topic."""
        admin = self.admin()
        admin.delete_topics([topic])[topic].result(30)
        self._wait_for_partitions(topic, 0)

    def _wait_for_partitions(self, topic: str, count: int) -> None:
        """Until every broker knows what the controller has decided: the controller's answer comes before that."""
        for broker in self.brokers:
            admin = AdminClient(self.config | {"bootstrap.servers": f"127.0.0.1:{broker.port}"})
            deadline = time.monotonic() + START_SECONDS
            while True:
                found = admin.list_topics(timeout=START_SECONDS).topics.get(topic)
                if (len(found.partitions) if found else 0) == count:
                    break
                assert time.monotonic() < deadline, f"{topic} has {found} and not {count} partitions"
                time.sleep(0.05)

    def produce(
        self,
        topic: str,
        values: Sequence[bytes | str | None],
        *,
        partition: Callable[[int], int] = lambda number: 0,
        **config: Any,
    ) -> None:
        """Write values, each to the partition named for its number; keyword arguments set librdkafka's options."""
        options = {name.replace("_", "."): value for name, value in config.items()}
        producer = Producer(self.config | {"message.max.bytes": 10_000_000, "linger.ms": 5} | options)
        lost: list[KafkaError] = []
        for number, value in enumerate(values):
            while True:
                try:
                    producer.produce(
                        topic,
                        value,
                        partition=partition(number),
                        on_delivery=lambda error, _: lost.append(error) if error else None,
                    )
                    break
                except BufferError:
                    producer.poll(0.05)
        assert producer.flush(30) == 0
        assert not lost, lost

    def compacted_topic(self, first: bytes, last: bytes, gap: int) -> str:
        """A topic that the broker has really compacted: ``first``, then so many offsets that are gone, then ``last``.

        Every message of the gap had the key of ``last``. Compaction leaves the newest segment alone, so a message from
        an hour later begins a new one; its value is None, a tombstone.
        """
        name = self.topic(
            config={"cleanup.policy": "compact", "min.cleanable.dirty.ratio": "0.01", "segment.ms": "60000"}
        )
        producer = Producer(self.config)
        begun = int(time.time() * 1000) - 7_200_000
        for key, value in [(b"first", first), *[(b"same", b"old")] * gap, (b"same", last)]:
            producer.produce(name, value, key=key, partition=0, timestamp=begun)
        assert producer.flush(30) == 0
        producer.produce(name, None, key=b"new segment", partition=0, timestamp=begun + 3_600_000)
        assert producer.flush(30) == 0
        deadline = time.monotonic() + START_SECONDS
        while (found := self.offsets(name)) != [0, gap + 1, gap + 2]:
            assert time.monotonic() < deadline, f"not compacted: {len(found)} messages are left"
            time.sleep(0.1)
        return name

    def offsets(self, topic: str) -> list[int]:
        """Every offset of partition 0 that a reader gets."""
        consumer = Consumer(self.config | {"group.id": "offsets", "enable.partition.eof": True})
        consumer.assign([TopicPartition(topic, 0, 0)])
        found: list[int] = []
        while (message := consumer.poll(10)) is not None and message.error() is None:
            found.append(message.offset() or 0)
        consumer.close()
        return found

    def transaction(self, topic: str, values: Sequence[bytes | str], *, commit: bool) -> None:
        """One transaction on partition 0, committed or aborted."""
        producer = Producer(self.config | {"transactional.id": secrets.token_hex(6)})
        producer.init_transactions(30)
        producer.begin_transaction()
        for value in values:
            producer.produce(topic, value, key=secrets.token_bytes(4), partition=0)
        producer.flush(30)
        producer.commit_transaction(30) if commit else producer.abort_transaction(30)


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
