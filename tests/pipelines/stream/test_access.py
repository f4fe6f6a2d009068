"""SASL and TLS against a broker that insists on both: options come from a file, and a wrong password is told apart."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import ray

from excam.fault import UserError
from pipelines.stream.produce import produce
from pipelines.stream.settings import KafkaAccess
from pipelines.stream.topic import Topic
from tests.conftest import LogWriter, pair_record
from tests.kafka import Kafka, running_kafka
from tests.pipelines.stream.conftest import Run, message

USER, PASSWORD = "judge", "not-a-secret-of-anybody"
LISTENER = "listener.name.sasl_ssl"


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A certificate for loopback that signs itself, and its key, in one PEM file."""
    folder = tmp_path_factory.mktemp("tls")
    names = ["-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"]
    files = ["-keyout", f"{folder}/key.pem", "-out", f"{folder}/cert.pem"]
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", *names, *files]
    subprocess.run(command, check=True, capture_output=True)
    (folder / "both.pem").write_bytes((folder / "key.pem").read_bytes() + (folder / "cert.pem").read_bytes())
    return folder


@pytest.fixture(scope="module")
def guarded(certificate: Path) -> Iterator[Kafka]:
    scram = "org.apache.kafka.common.security.scram.ScramLoginModule"
    plain = "org.apache.kafka.common.security.plain.PlainLoginModule"
    login = f'username="{USER}" password="{PASSWORD}"'
    extra = {
        "sasl.enabled.mechanisms": "SCRAM-SHA-256,PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        f"{LISTENER}.scram-sha-256.sasl.jaas.config": f"{scram} required;",
        f"{LISTENER}.plain.sasl.jaas.config": f'{plain} required {login} user_{USER}="{PASSWORD}";',
        "ssl.keystore.type": "PEM",
        "ssl.keystore.location": str(certificate / "both.pem"),
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": str(certificate / "cert.pem"),
    }
    user = f"SCRAM-SHA-256=[name={USER},password={PASSWORD}]"
    client = {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.username": USER,
        "sasl.password": PASSWORD,
        "ssl.ca.location": str(certificate / "cert.pem"),
    }
    with running_kafka(
        extra=extra, format_arguments=["--add-scram", user], client=client, listener="SASL_SSL"
    ) as kafka:
        yield kafka


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256"])
def test_a_log_goes_in_and_offsets_come_out_through_sasl_and_tls(
    guarded: Kafka, certificate: Path, mechanism: str, tmp_path: Path, write_log: LogWriter
) -> None:
    config = tmp_path / "kafka.yaml"
    lines = ["security.protocol: SASL_SSL", f"sasl.mechanism: {mechanism}", f"sasl.username: {USER}"]
    config.write_text("\n".join([*lines, f"sasl.password: {PASSWORD}", f"ssl.ca.location: {certificate}/cert.pem"]))
    access = KafkaAccess.load(guarded.bootstrap, config)
    topic = guarded.topic()
    log = write_log("log.parquet", [pair_record(number) for number in range(7)])
    assert produce(str(log), topic, access) == 7
    with Topic(topic, access, "group") as asked:
        assert asked.bounds()[0].high == 7
        assert asked.visible_ends({0: (0, 7)}) == {0: 7}
        asked.mirror({0: 7})
        assert asked.mirrored() == {0: 7}


@pytest.mark.engine
@pytest.mark.usefixtures("judge")
def test_a_topic_is_judged_through_sasl_and_tls_and_the_password_stays_out_of_store_and_logs(
    guarded: Kafka, stream: Run, store_url: str, tmp_path: Path
) -> None:
    topic = guarded.topic()
    guarded.produce(topic, [message(number) for number in range(5)])
    done = stream(guarded, topic)
    assert (done.tally.judged, done.positions) == (5, {0: 5})
    logs = Path(ray._private.worker.global_worker.node.get_logs_dir_path())
    written = [path for folder in (tmp_path / "store", logs) for path in folder.rglob("*") if path.is_file()]
    assert len(written) > 10
    assert not [path for path in written if PASSWORD.encode() in path.read_bytes()]


def test_a_wrong_password_is_said_and_not_shown(guarded: Kafka, certificate: Path) -> None:
    options = guarded.client | {"sasl.password": "guess-of-mine", "socket.timeout.ms": 3000}
    with pytest.raises(UserError, match="cannot be asked") as error:
        Topic("anything", KafkaAccess(guarded.bootstrap, options), "group")
    assert "guess-of-mine" not in str(error.value)
