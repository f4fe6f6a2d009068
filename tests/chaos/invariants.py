"""What must hold after any disturbance: one outcome for every offset, none torn, and the trends of a quiet run."""

from __future__ import annotations

from collections import Counter
from typing import Any

from excam.store import Store
from tests.kafka import Kafka
from tests.pipelines.stream.conftest import check_every_offset_has_one_outcome, ends, rows_of

Trend = dict[tuple[Any, ...], int]


def check_no_commit_is_torn(store_url: str) -> int:
    """At any moment: the catalogue opens, and what it says was settled has its outcomes. How many offsets that is."""
    with Store.open(store_url, read_only=True) as store:
        counts = store.query(
            lambda connection: connection.execute(
                """SELECT (SELECT coalesce(sum(next_offset), 0) FROM lake.ledger WHERE next_offset IS NOT NULL),
                          (SELECT count(*) FROM lake.verdicts), (SELECT count(DISTINCT pair_id) FROM lake.verdicts),
                          (SELECT count(*) FROM lake.dead_letters)"""
            ).fetchone()
        )
    assert counts is not None
    offsets, verdicts, pairs, letters = counts
    assert verdicts == pairs, f"{verdicts - pairs} verdicts are doubled"
    assert offsets == verdicts + letters, f"{offsets} offsets are settled, {verdicts} + {letters} outcomes are there"
    return int(offsets)


def check_everything_is_settled(store_url: str, kafka: Kafka, topic: str, pairs: int, poison: int) -> None:
    """At the end: every message has its one outcome, and nothing else is in the store."""
    check_every_offset_has_one_outcome(store_url, ends(kafka, topic), {})
    judged = Counter(row["pair_id"] for row in rows_of(store_url, "verdicts"))
    assert judged == {f"pair-{number}": 1 for number in range(pairs)}
    letters = rows_of(store_url, "dead_letters")
    assert len({(row["part"], row["row"]) for row in letters}) == len(letters) == poison
    check_no_commit_is_torn(store_url)


def trend(store_url: str) -> Trend:
    """Verdicts by country, day and status: what a dashboard shows."""
    with Store.open(store_url, read_only=True) as store:
        rows = store.query(
            lambda connection: connection.execute(
                """SELECT country, logged_on, model, status, count(*) FROM lake.verdicts GROUP BY ALL"""
            ).fetchall()
        )
    return {tuple(row[:-1]): int(row[-1]) for row in rows}
