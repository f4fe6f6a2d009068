"""What people say of reports: whether the judge is right. Rows are only added; a later opinion replaces one's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from enum import StrEnum

import duckdb
import pyarrow as pa
from pydantic import BaseModel, ConfigDict

from excam.fault import UserError
from excam.stats import wilson
from excam.store.connection import transact
from excam.store.keys import pair_key
from excam.store.lease import meet
from excam.store.queries.judges import pick_judge
from excam.store.queries.view import View


class Opinion(StrEnum):
    """Right: every error is one. Partly: some are, or one is put badly. Wrong: there is no such error."""

    RIGHT = "right"
    PARTLY = "partly"
    WRONG = "wrong"


class Review(BaseModel):
    """One reader's opinion of one judge's report on a pair."""

    model_config = ConfigDict(frozen=True)

    pair_id: str
    judge_version: str
    opinion: Opinion
    comment: str
    reviewer: str
    reviewed_at: datetime


class Agreement(BaseModel):
    """How far readers agree with the judge, and with each other.

    ``precision`` is the share of reviewed errors that most of their readers call right. ``kappa`` (Cohen's) is None
    where no two people have read the same reports or they never differ.
    """

    model_config = ConfigDict(frozen=True)

    reviewed: int
    right: int
    partly: int
    wrong: int
    precision: float | None
    low: float
    high: float
    read_twice: int
    kappa: float | None


FENCE = "reviews"  # where a review meets the deletion of what it is about

# Of several opinions of one reader on one report, the last counts.
_LATEST = """SELECT * FROM lake.reviews QUALIFY row_number() OVER (
    PARTITION BY pair_key, pair_id, judge_version, reviewer ORDER BY reviewed_at DESC) = 1"""


def add_review(
    connection: duckdb.DuckDBPyConnection,
    pair_id: str,
    judge_version: str,
    opinion: Opinion,
    comment: str,
    reviewer: str,
) -> None:
    """Keep an opinion on a verdict that the store holds. It needs no lease: nothing that others write is touched."""
    key = pair_key(pair_id)

    def work() -> None:
        meet(connection, FENCE)
        known = connection.execute(
            "SELECT pair_id FROM lake.verdicts WHERE pair_key = ?::UBIGINT AND judge_version = ?", [key, judge_version]
        ).fetchall()
        if (pair_id,) not in known:
            raise UserError("this judge has given no verdict on this pair", "open the report again")
        connection.execute(
            "INSERT INTO lake.reviews VALUES (?::UBIGINT, ?, ?, ?, ?, ?, now())",
            [key, pair_id, judge_version, opinion.value, comment, reviewer],
        )

    transact(connection, work)


def reviews_of(connection: duckdb.DuckDBPyConnection, pair_id: str, judge_version: str) -> list[Review]:
    """Everybody's last opinion of a report, the latest first."""
    rows = connection.execute(
        f"""SELECT * EXCLUDE (pair_key, reviewed_at), epoch_us(reviewed_at) / 1e6 AS reviewed_at FROM ({_LATEST})
            WHERE pair_key = ?::UBIGINT AND judge_version = ? ORDER BY reviewed_at DESC""",
        [pair_key(pair_id), judge_version],
    ).to_arrow_table()
    return [Review.model_validate(row) for row in rows.to_pylist() if row["pair_id"] == pair_id]


def agreement(connection: duckdb.DuckDBPyConnection, view: View) -> Agreement:
    """Judge against readers, on the reviewed errors of a view."""
    judge = pick_judge(connection, view.judge)
    rows = _opinions(connection, view, judge.judge_version) if _any_review(connection) else []
    settled = Counter(settle(opinions) for _, opinions in rows)
    right = settled[Opinion.RIGHT]
    low, high = wilson(right, len(rows))
    twice = [(opinions[0], opinions[1]) for _, opinions in rows if len(opinions) > 1]
    return Agreement(
        reviewed=len(rows),
        right=right,
        partly=settled[Opinion.PARTLY],
        wrong=settled[Opinion.WRONG],
        precision=right / len(rows) if rows else None,
        low=low,
        high=high,
        read_twice=len(twice),
        kappa=cohens_kappa(twice),
    )


def _any_review(connection: duckdb.DuckDBPyConnection) -> bool:
    """Most stores have none, and looking for their verdicts would read all of them."""
    return bool(connection.execute("SELECT 1 FROM lake.reviews LIMIT 1").fetchall())


def _opinions(connection: duckdb.DuckDBPyConnection, view: View, judge_version: str) -> list[tuple[str, list[str]]]:
    where, wrong, values = view.where(judge_version)
    return connection.execute(
        f"""SELECT pair_id, list(opinion ORDER BY reviewer) FROM ({_LATEST})
            WHERE judge_version = $judge AND pair_key IN (SELECT pair_key FROM lake.verdicts WHERE {where} AND {wrong}
                  AND pair_key IN (SELECT pair_key FROM lake.reviews))
            GROUP BY pair_id""",
        values,
    ).fetchall()


def settle(opinions: Sequence[str]) -> Opinion:
    """What most readers say; where they are divided, the report is partly right."""
    counts = Counter(opinions).most_common(2)
    if len(counts) > 1 and counts[0][1] == counts[1][1]:
        return Opinion.PARTLY
    return Opinion(counts[0][0])


def cohens_kappa(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Agreement of two readers beyond what chance would bring; None where chance alone would bring all of it."""
    if not pairs:
        return None
    n = len(pairs)
    first, second = Counter(a for a, _ in pairs), Counter(b for _, b in pairs)
    seen = sum(a == b for a, b in pairs) / n
    by_chance = sum(first[name] * second[name] for name in first) / (n * n)
    return None if by_chance >= 1 else (seen - by_chance) / (1 - by_chance)


def reviewed_pairs(connection: duckdb.DuckDBPyConnection) -> pa.Table:
    """Every reviewed verdict with its texts and opinions, for the dataset."""
    return connection.execute(
        f"""
        WITH opinions AS (
            SELECT pair_key, pair_id, judge_version, list(opinion ORDER BY reviewer) AS opinions
            FROM ({_LATEST}) GROUP BY ALL
        )
        SELECT opinions.*, verdicts.status, verdicts.report, verdicts.country, verdicts.language,
               verdicts.content_hash, texts.instruction, texts.output
        FROM opinions
        JOIN (SELECT * FROM lake.verdicts WHERE pair_key IN (SELECT pair_key FROM lake.reviews)) AS verdicts
             USING (pair_key, pair_id, judge_version)
        JOIN lake.texts AS texts ON texts.text_key = verdicts.text_key AND texts.text_check = verdicts.text_check
        ORDER BY opinions.pair_id, opinions.judge_version
        """
    ).to_arrow_table()
