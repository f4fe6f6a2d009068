"""The stage between Ray Data and Ray Serve: bounded requests in flight, patient retries, dead letters for the rest.

A replica or engine that dies costs a retry and never the run. A judge that lives is waited for, however slow it is:
to ask it anew would have it begin anew. What fails for another reason, or has the judge die every time, fails for its
pairs alone: a call is split until the pair at fault stands by itself, and that one becomes a dead letter.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from ray.exceptions import RayActorError
from ray.serve.exceptions import BackPressureError

from excam.judgement import JudgeFailure, Judgement, error_rows
from excam.outcome import Kind
from pipelines.answered import Telling
from pipelines.files import plain
from pipelines.read import record_json
from pipelines.replayed import JUDGE_STAGE
from pipelines.screen import Row, dead_letter
from pipelines.units import UNIT_ROWS
from serve.living import cause_of, died, judge_lives
from serve.settings import ReplicaSettings

CHUNK = 16  # pairs a call: enough to make the call's cost vanish, few enough to spread over replicas
LEAST_UNITS_AT_ONCE = 8
FIRST_CALLS = 4  # in flight at the start, for each replica
QUICK = 60.0  # seconds; every call answered sooner allows one call more: a slow judge has little under way at once
FIRST_WAIT = 600.0  # an answer may get lost: a call is asked again after this time, then after twice that, and so on
PATIENCE = 900.0  # how long no judge may live, or every try may fail, before pairs go to the dead letters
DEATHS = 3  # of the judge while it had a call of several pairs, before these are asked about apart
REMEMBERED = 20_000
PAIR_FIELDS = (
    "pair_id",
    "instruction",
    "output",
    "logged_at",
    "country",
    "language",
    "app",
    "model",
    "metadata",
    "sample_share",
)

# A dead replica, a full queue, or no answer in time: the pair is not at fault and another try may well succeed.
RECOVERABLE = (RayActorError, BackPressureError, asyncio.TimeoutError, ConnectionError)


def units_at_once(in_flight: int) -> int:
    """Units judged side by side: twice the pairs that may be in flight, so that calls never wait for units to begin."""
    return max(LEAST_UNITS_AT_ONCE, 2 * in_flight * CHUNK // UNIT_ROWS)


def first_calls(replicas: ReplicaSettings) -> int:
    """Calls in flight at the start: a few for each replica, but all where Ray Serve adds replicas as calls queue."""
    few = FIRST_CALLS if replicas.min == replicas.max else replicas.max_ongoing_requests
    return replicas.max * few


def recoverable(error: BaseException) -> bool:
    """Whether to try again: the judge was unwell, as opposed to a pair it cannot take."""
    return isinstance(cause_of(error), RECOVERABLE) or died(error)


class JudgeCaller:
    """Judges the pending rows of a unit through a Serve handle, many units at once within one bound."""

    def __init__(self, handle: Any, judge_version: str, in_flight: int, first: int, answered: Any = None) -> None:
        self._handle = handle
        self._judge_version = judge_version
        self._slots = asyncio.Semaphore(min(first, in_flight))
        self._more_slots = max(0, in_flight - first)
        self._recent: OrderedDict[str, asyncio.Future[Judgement | JudgeFailure]] = OrderedDict()
        self._telling = Telling(answered)
        self.retries = 0

    async def judge_rows(self, rows: list[Row]) -> None:
        """Turn every pending row into a verdict or a dead letter, in place; a text met before is not asked again."""
        pending = [row for row in rows if row["kind"] == Kind.PENDING.value]
        fresh = {row["content_hash"]: row for row in reversed(pending) if row["content_hash"] not in self._recent}
        for text in fresh:
            self._recent[text] = asyncio.get_running_loop().create_future()
        answers = {row["content_hash"]: self._recent[row["content_hash"]] for row in pending}
        asked = list(fresh.values())
        chunks = [asked[start : start + CHUNK] for start in range(0, len(asked), CHUNK)]
        await asyncio.gather(*(self._ask(chunk, answers) for chunk in chunks))
        for row in pending:
            answer = await answers[row["content_hash"]]
            self._settle(row, answer, reused=fresh.get(row["content_hash"]) is not row)
        while len(self._recent) > REMEMBERED:
            self._recent.popitem(last=False)

    async def _ask(self, rows: Sequence[Row], answers: Mapping[str, asyncio.Future[Judgement | JudgeFailure]]) -> None:
        for row, answer in zip(rows, await self._answers(rows), strict=True):
            answers[row["content_hash"]].set_result(answer)
            if isinstance(answer, JudgeFailure):
                self._recent.pop(row["content_hash"], None)

    async def _answers(self, rows: Sequence[Row]) -> list[Judgement | JudgeFailure]:
        async with self._slots:
            asked = time.monotonic()
            answer = await self._call([(row["instruction"], row["output"]) for row in rows])
        if not isinstance(answer, JudgeFailure):
            self._telling.add(len(rows))
            if self._more_slots and time.monotonic() - asked < QUICK:
                self._more_slots -= 1
                self._slots.release()
            return answer
        if len(rows) == 1 or answer.reason == "judge_unreachable":
            return [answer] * len(rows)
        half = len(rows) // 2
        return [*await self._answers(rows[:half]), *await self._answers(rows[half:])]

    async def _call(self, pairs: list[tuple[str, str]]) -> list[Judgement | JudgeFailure] | JudgeFailure:
        """What the judge answers. Time in which it lived and had not answered yet is no reason to give up."""
        now = asyncio.get_running_loop().time
        deadline = now() + PATIENCE
        delay, wait, deaths = 0.5, FIRST_WAIT, 0
        while True:
            asked = now()
            try:
                answer: list[Judgement | JudgeFailure] = await asyncio.wait_for(
                    self._handle.judge_batch.remote(pairs), wait
                )
                return answer
            except Exception as error:  # noqa: BLE001 - whatever the judge throws must end as data, not end the run
                if not recoverable(error):
                    return JudgeFailure("judge_error", plain(error))
                if isinstance(error, TimeoutError) and await asyncio.to_thread(judge_lives, self._handle):
                    self.retries += 1
                    deadline += now() - asked
                    wait *= 2
                    continue
                wait = FIRST_WAIT
                deaths += died(error)
                if deaths == DEATHS and len(pairs) > 1:
                    return JudgeFailure("judge_died", plain(error))
                if now() > deadline:
                    return JudgeFailure("judge_unreachable", f"no answer within {PATIENCE:.0f} s: {plain(error)}")
            self.retries += 1
            await asyncio.sleep(delay * random.uniform(0.5, 1.5))
            delay = min(2 * delay, 15.0)

    def _settle(self, row: Row, answer: Judgement | JudgeFailure, *, reused: bool) -> None:
        if isinstance(answer, JudgeFailure):
            record = row.get("record") or record_json({key: row[key] for key in PAIR_FIELDS})
            row.update(dead_letter(JUDGE_STAGE, answer.reason, answer.detail, record))
            return
        row.update(
            kind=Kind.VERDICT.value,
            judge_version=self._judge_version,
            status=answer.status.value,
            score=answer.score,
            p_error=answer.p_error,
            p_report=answer.p_report,
            report=answer.report,
            errors=error_rows(answer.report, row["instruction"], row["output"]),
            judged_at=datetime.now(UTC),
            gated=False,
            reused=reused,
            guided=answer.guided,
            truncated=answer.truncated,
        )
