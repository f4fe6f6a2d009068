"""One broker: where its jars come from, and how it is started, killed and made to hang."""

from __future__ import annotations

import hashlib
import os
import shutil
import signal
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from excam.models.cache import cache_root
from tests.link import SlowLink

POM = Path(__file__).with_name("pom.xml")


def kafka_jars() -> Path:
    """The folder with Kafka's jars; fetched by Maven when this version of this pom was never fetched before.

    EXCAM_TEST_KAFKA names another version than the pom's, to see whether the tests hold on it too.
    """
    _require("java", "openjdk-17-jre-headless")
    cache = cache_root() / "kafka"
    version = os.environ.get("EXCAM_TEST_KAFKA", "")
    folder = cache / hashlib.sha256(POM.read_bytes() + version.encode()).hexdigest()[:12]
    if not folder.is_dir():
        _require("mvn", "maven")
        cache.mkdir(parents=True, exist_ok=True)
        making = Path(tempfile.mkdtemp(dir=cache))
        fetch = ["mvn", "-q", "-B", "-f", str(POM), "dependency:copy-dependencies", f"-DoutputDirectory={making}"]
        fetch += [f"-Dkafka.version={version}"] if version else []
        subprocess.run(fetch, check=True, cwd=making)
        making.chmod(0o755)
        os.replace(making, folder)
    return folder


def _require(command: str, package: str) -> None:
    if shutil.which(command) is None:
        raise RuntimeError(f"tests with Kafka need {command}; install it with: apt-get install -y {package}")


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
