"""Rows through a bounded window, kept in portions; the engine itself is tested by ``excam evaluate``."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from excam.evaluation.baselines import BASELINES
from excam.judge_card import JudgeCard
from serve import offline
from serve.identity import Judge


class _Asker:
    """An engine's stand-in at the edge: answers after a while, in no particular order, and counts how many wait."""

    def __init__(self, fail_at: int | None = None) -> None:
        self.fail_at, self.now, self.most, self.stopped = fail_at, 0, 0, False

    async def ask(self, row: dict[str, Any]) -> dict[str, Any]:
        self.now += 1
        self.most = max(self.most, self.now)
        await asyncio.sleep(0.001 * (row["n"] % 5))
        self.now -= 1
        if row["n"] == self.fail_at:
            raise RuntimeError("the engine died")
        return row | {"status": "correct"}

    async def start(self) -> Any:
        def stop() -> None:
            self.stopped = True

        return self.ask, stop


def test_every_row_comes_back_once_in_portions_with_a_bounded_number_under_way(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "AT_ONCE", 16)
    asker = _Asker()
    kept: list[list[dict[str, Any]]] = []
    asyncio.run(offline._judge(asker.start, [{"n": number} for number in range(700)], kept.append))
    assert sorted(row["n"] for portion in kept for row in portion) == list(range(700))
    assert max(len(portion) for portion in kept) <= offline.KEEP_ROWS
    assert asker.most <= 16
    assert asker.stopped


def test_when_the_engine_dies_what_was_judged_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(offline, "AT_ONCE", 8)
    asker = _Asker(fail_at=60)
    kept: list[list[dict[str, Any]]] = []
    with pytest.raises(RuntimeError, match="died"):
        asyncio.run(offline._judge(asker.start, [{"n": number} for number in range(200)], kept.append))
    assert asker.stopped
    assert len(kept[0]) >= 40


def test_a_baselines_identity_holds_its_prompt_and_its_length(tmp_path: Any) -> None:
    from serve.settings import JudgeSettings

    card = JudgeCard(base="b", base_sha256="0" * 64, prompt_sha256="p", decoding={})
    settings = JudgeSettings.load(None, max_report_tokens=128)
    judge = Judge(card=card, settings=settings, threshold=0.5, calibration=None, model_path=tmp_path)
    versions = {offline.baseline_card(judge, one).judge_version for one in BASELINES.values()}
    assert len(versions | {card.judge_version}) == len(BASELINES) + 1
