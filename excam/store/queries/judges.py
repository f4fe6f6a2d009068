"""Which judges a store knows, and which one a question is about when nobody says."""

from __future__ import annotations

from datetime import datetime

import duckdb
from pydantic import BaseModel, ConfigDict

from excam.fault import UserError
from excam.judge_card import JudgeCard


class JudgeUse(BaseModel):
    """A judge and what it has done in this store; ``tuned`` is None where its card was never registered."""

    model_config = ConfigDict(frozen=True)

    judge_version: str
    base: str | None = None
    adapter: str | None = None
    tuned: bool | None = None
    verdicts: int | None = None
    errors: int | None = None
    first_at: datetime | None = None
    last_at: datetime | None = None

    @property
    def name(self) -> str:
        """What it is made of: the base model and the adapter's name and version."""
        return _name(self.base, self.adapter)

    @property
    def title(self) -> str:
        """The judge in one line, saying plainly when nobody has taught it the task."""
        if self.tuned is None:
            return f"judge {self.judge_version} (no card in the store)"
        name = f"{self.base} + {self.adapter}" if self.adapter else str(self.base)
        warning = "" if self.tuned else ", UNTUNED: a base model that was never taught to find cultural errors"
        return f"judge {self.judge_version} ({name}{warning})"


def list_judges(connection: duckdb.DuckDBPyConnection) -> list[JudgeUse]:
    """Every judge with a card or a verdict, the one used last first, with how much it has judged."""
    rows = connection.execute(
        """
        WITH used AS (
            SELECT judge_version, count(*) AS verdicts, count(*) FILTER (status = 'error') AS errors,
                   epoch_us(min(judged_at)) AS first_at, epoch_us(max(judged_at)) AS last_at
            FROM lake.verdicts GROUP BY judge_version
        )
        SELECT judge_version, card, coalesce(verdicts, 0), coalesce(errors, 0), used.first_at, last_at
        FROM used FULL JOIN lake.judges USING (judge_version) ORDER BY last_at DESC NULLS LAST, judge_version
        """
    ).fetchall()
    return [
        _use(version, card, verdicts=verdicts, errors=errors, first_at=_moment(first), last_at=_moment(last))
        for version, card, verdicts, errors, first, last in rows
    ]


def judge_names(connection: duckdb.DuckDBPyConnection) -> dict[str, str]:
    """What every registered judge is made of, by its version, the one registered last first."""
    rows = connection.execute("SELECT judge_version, card FROM lake.judges ORDER BY first_at DESC, judge_version")
    cards = [(version, JudgeCard.model_validate_json(card)) for version, card in rows.fetchall()]
    return {version: _name(card.base, card.adapter) for version, card in cards}


def pick_judge(connection: duckdb.DuckDBPyConnection, wanted: str | JudgeUse | None = None) -> JudgeUse:
    """The judge whose version begins with ``wanted``, or the one that ran last; its counts, a scan, are left out."""
    if isinstance(wanted, JudgeUse):
        return wanted
    rows = connection.execute(
        """
        WITH versions AS (
            SELECT judge_version, max(started_at) AS last FROM lake.runs GROUP BY judge_version
            UNION ALL SELECT judge_version, first_at FROM lake.judges
        )
        SELECT judge_version, any_value(card) FROM versions LEFT JOIN lake.judges USING (judge_version)
        WHERE starts_with(judge_version || '', $wanted) GROUP BY judge_version ORDER BY max(last) DESC
        """,
        {"wanted": wanted or ""},
    ).fetchall()
    if wanted is None:
        if not rows:
            raise UserError("the store holds no verdicts yet", "judge some logs first: excam score LOGS")
        return _use(*next((row for row in rows if _has_verdicts(connection, row[0])), rows[0]))
    exact = [row for row in rows if row[0] == wanted]
    if not (exact or rows):
        raise UserError(f"no judge {wanted!r} in this store", "see which there are with: excam judges")
    if not exact and len(rows) > 1:
        raise UserError(f"{wanted!r} is the beginning of {len(rows)} judge versions", "write more of it")
    return _use(*(exact or rows)[0])


def _name(base: str | None, adapter: str | None) -> str:
    return f"{base} + {adapter}" if adapter else f"{base}, untuned"


def _has_verdicts(connection: duckdb.DuckDBPyConnection, judge_version: str) -> bool:
    query = "SELECT 1 FROM lake.verdicts WHERE judge_version = ? LIMIT 1"
    return connection.execute(query, [judge_version]).fetchone() is not None


def _use(version: str, card_text: str | None, **counts: object) -> JudgeUse:
    card = JudgeCard.model_validate_json(card_text) if card_text else None
    known = {"base": card.base, "adapter": card.adapter, "tuned": card.tuned} if card else {}
    return JudgeUse.model_validate({"judge_version": version, **known, **counts})


def _moment(microseconds: int | None) -> float | None:
    return None if microseconds is None else microseconds / 1e6
