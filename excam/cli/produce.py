"""``excam produce``: write a log to a topic."""

from __future__ import annotations

import click

from excam.cli.kafka_options import kafka_options
from excam.cli.numbers import Within


@click.command()
@click.argument("log")
@kafka_options
@click.option("--rate", type=Within(0, min_open=True), help="Messages a second. Default: as fast as it goes.")
@click.option(
    "--compression",
    default="none",
    show_default=True,
    type=click.Choice(["none", "gzip", "lz4", "zstd", "snappy"]),
)
@click.option("--restamp", metavar="COLUMN", help="Set this column to the moment of sending, as live traffic has it.")
def produce(
    log: str,
    topic: str,
    bootstrap: str,
    kafka_config: str | None,
    rate: float | None,
    compression: str,
    restamp: str | None,
) -> None:
    """Write the records of LOG, a Parquet file, folder or glob, to a topic: one JSON message each."""
    from pipelines.stream.produce import produce as send
    from pipelines.stream.settings import KafkaAccess

    access = KafkaAccess.load(bootstrap, kafka_config)
    count = send(log, topic, access, rate=rate, compression=compression, restamp=restamp)
    click.echo(f"{count:,} messages written to {topic}.")
