"""What a stream is told: the topic, how to reach the brokers, how fast to be, and what to leave out.

Secrets come from a file or the environment. They are on no command line, in no log and in no store.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

import yaml

from excam.fault import UserError
from excam.mapping import RecordMapping

PREFIX = "EXCAM_KAFKA_"
NO_OPTIONS = (f"{PREFIX}BOOTSTRAP", f"{PREFIX}CONFIG")  # these stand for command-line options
ISOLATION = {"isolation.level": "read_committed", "enable.auto.commit": False}
LARGEST_MESSAGE = 100 * 2**20

Position = Literal["earliest", "latest"] | datetime


@dataclass(frozen=True)
class KafkaAccess:
    """Brokers and librdkafka's options; printing it shows the brokers alone."""

    bootstrap: str
    options: Mapping[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def load(cls, bootstrap: str, path: str | Path | None = None) -> KafkaAccess:
        """Options from a YAML file or a ``key=value`` properties file, then from EXCAM_KAFKA_… variables.

        ``EXCAM_KAFKA_SASL_PASSWORD`` is librdkafka's ``sasl.password``, and so on for every option.
        """
        if "@" in bootstrap:
            raise UserError("the brokers' address holds credentials", f"put them into a file or {PREFIX}SASL_PASSWORD")
        options = _read(Path(path)) if path else {}
        for name, value in os.environ.items():
            if name.startswith(PREFIX) and name not in NO_OPTIONS:
                options[name.removeprefix(PREFIX).lower().replace("_", ".")] = value
        options.pop("bootstrap.servers", None)
        return cls(bootstrap, options)

    def client(self, **more: Any) -> dict[str, Any]:
        """The configuration of a client; keyword arguments are further options with underscores for dots."""
        extra = {name.replace("_", "."): value for name, value in more.items()}
        quiet = {"bootstrap.servers": self.bootstrap, "log_level": 2, "reconnect.backoff.max.ms": 5_000}
        return quiet | dict(self.options) | extra

    def reader(self) -> dict[str, Any]:
        """The configuration Ray Data reads with: an offset that is gone is an error there, never a silent jump."""
        sizes = {"fetch.message.max.bytes": 4 * 2**20, "receive.message.max.bytes": LARGEST_MESSAGE}
        return {"log_level": 2} | dict(self.options) | ISOLATION | sizes | {"auto.offset.reset": "error"}


@dataclass(frozen=True)
class StreamOptions:
    """What a user may choose about a stream besides the judge."""

    topic: str
    access: KafkaAccess
    mapping: RecordMapping = field(default_factory=RecordMapping)
    gate: bool = True
    group: str = "excam"
    start: Position = "earliest"
    rewind: bool = False
    until_caught_up: bool = False
    max_latency: float = 30.0
    max_batch: int = 5_000
    share: float = 1.0
    cap_per_hour: int | None = None
    cap_per_country: int | None = None
    always_apps: tuple[str, ...] = ()
    dead_letter_topic: str | None = None
    registry: str | None = None
    screeners: int = 1
    grace: float = 30.0
    metrics_port: int | None = None
    metrics_host: str = "127.0.0.1"
    wait: float = 0.0


def seconds(text: str) -> float:
    """A span of time as people write it: 30s, 5m, 1.5h, or plain seconds."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*(ms|s|m|h)?\s*", text)
    if found is None:
        raise UserError(f"{text!r} is no span of time", "write it as 30s, 5m or 1h")
    return float(found[1]) * {"ms": 0.001, None: 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}[found[2]]


def _read(path: Path) -> dict[str, Any]:
    fix = "write librdkafka's options as YAML (sasl.username: …) or as lines of key=value"
    try:
        text = path.read_text(encoding="utf-8")
        # BaseLoader makes texts of all values as they are written: as a number, a password of 0123 would be 83.
        found = _properties(text) if path.suffix == ".properties" else yaml.BaseLoader(text).get_single_data()
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"Kafka settings {path} cannot be read: {type(error).__name__}", fix) from error
    except yaml.YAMLError:
        raise UserError(f"Kafka settings {path} are not YAML", fix) from None  # its message may quote a password
    if not isinstance(found, dict | None) or any(isinstance(value, dict | list) for value in (found or {}).values()):
        raise UserError(f"Kafka settings {path} are no flat list of options", fix)
    return {str(name): value for name, value in (found or {}).items()}


def _properties(text: str) -> dict[str, Any]:
    lines = (line.strip() for line in text.splitlines())
    pairs = (line.partition("=") for line in lines if line and not line.startswith("#"))
    return {name.strip(): value.strip() for name, _, value in pairs}
