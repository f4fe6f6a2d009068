"""How far streams are, from the store alone or with what the brokers say."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import click

from excam.cli.aside import aside
from excam.cli.output import moment, print_json, print_table
from excam.cli.printable import printable

if TYPE_CHECKING:
    from pipelines.stream.settings import KafkaAccess

FIGURES = ("offset", "lag", "lag s", "pairs/s", "P50 s", "P95 s", "dead", "retries", "skipped", "lost")


def print_status(store_url: str, bootstrap: str | None, kafka_config: str | None, *, as_json: bool) -> None:
    """A row for every partition and judge."""
    found = partition_rows(store_url)
    if bootstrap:
        _ask_brokers(found, bootstrap, kafka_config)
    if as_json:
        print_json(found)
        return
    if not found:
        click.echo("No topic has been read into this store.")
        return
    print_table(
        ["topic", "partition", "judge", *FIGURES, "last commit"],
        (
            [
                row["source"].removeprefix("kafka:"),
                row["part"],
                row["judge_version"],
                row["next_offset"],
                row["lag_messages"],
                row["lag_seconds"],
                row["pairs_per_second"],
                row["p50"],
                row["p95"],
                row["dead_letters"],
                row["retries"],
                row["skipped"],
                row["lost"],
                moment(row["updated_at"]),
            ]
            for row in found
        ),
        right=["partition", *FIGURES],
    )


def partition_rows(store_url: str) -> list[dict[str, Any]]:
    """What the store knows: offsets and sums over all time, speed and delay of the last batch."""
    from excam.store import Store

    with Store.open(store_url, read_only=True) as store:
        ranges = store.ranges().to_pylist()
        rows: list[dict[str, Any]] = store.stream_positions().to_pylist()
    sums: dict[tuple[str, int, str], dict[str, int]] = defaultdict(lambda: defaultdict(int))
    for one in ranges:
        total = sums[one["source"], one["part"], one["judge_version"]]
        total["skipped"] += one["skipped"]
        total["messages"] += one["messages"]
        total["lost"] += one["next_offset"] - one["first_offset"] if one["kind"] == "lost" else 0
    for row in rows:
        note = json.loads(row.pop("detail") or "{}")
        total = sums[row["source"], row["part"], row["judge_version"]]
        row |= {"lag_messages": note.get("messages"), "lag_seconds": note.get("seconds")}
        row |= {name: note.get(name) for name in ("pairs_per_second", "p50", "p95", "dead_letters", "retries")}
        row |= {name: total[name] for name in ("messages", "skipped", "lost")}
    return rows


def _ask_brokers(rows: list[dict[str, Any]], bootstrap: str, kafka_config: str | None) -> None:
    """Put the lag of this moment in the place of the last batch's; where it cannot be had, it is not known."""
    from pipelines.stream.settings import KafkaAccess

    access = KafkaAccess.load(bootstrap, kafka_config)
    for source in sorted({row["source"] for row in rows}):
        ends = _ends(source, access)
        for row in rows:
            if row["source"] != source:
                continue
            lag = max(0, ends[row["part"]] - row["next_offset"]) if row["part"] in ends else None
            if lag != row["lag_messages"]:
                row |= {"lag_messages": lag, "lag_seconds": 0.0 if lag == 0 else None}


def _ends(source: str, access: KafkaAccess) -> dict[int, int]:
    """Where each partition ends now; none of them, and why on stderr, where the brokers cannot say it."""
    from confluent_kafka import KafkaException

    from excam.fault import UserError
    from pipelines.stream.topic import Topic

    name = source.removeprefix("kafka:").rpartition("#")[0]
    try:
        with Topic(name, access, "excam-status") as topic:
            if topic.source == source:
                return {part: bounds.high for part, bounds in topic.bounds().items()}
        reason = f"topic {name} was deleted and made again"
    except UserError as error:
        reason = error.message
    except KafkaException as error:
        reason = f"the brokers cannot be asked for topic {name}: {error.args[0].str()}"
    aside(printable(f"the lag of {source} is not known: {reason}"))
    return {}
