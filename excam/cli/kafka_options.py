"""Options that name a Kafka topic, the same for every command that needs one. Secrets have no option."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

OPTIONS = (
    click.option("--topic", required=True, help="The topic's name."),
    click.option(
        "--bootstrap",
        required=True,
        envvar="EXCAM_KAFKA_BOOTSTRAP",
        show_envvar=True,
        metavar="HOST:PORT,…",
        help="Brokers to ask first.",
    ),
    click.option(
        "--kafka-config",
        type=click.Path(exists=True, dir_okay=False),
        envvar="EXCAM_KAFKA_CONFIG",
        show_envvar=True,
        help="File with librdkafka's options for SASL and TLS; or set EXCAM_KAFKA_SASL_PASSWORD and so on.",
    ),
)


def kafka_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that name a topic and its brokers."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command
