"""How many workers a run starts, how much each keeps at hand, and how often the driver commits."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines import run
from pipelines.judging import CHUNK, units_at_once
from pipelines.run import CALLS_PER_WORKER, workers_for
from pipelines.units import UNIT_ROWS, Sampling, Section, waves
from serve.settings import JudgeSettings


def test_a_laptop_has_one_reader_and_a_cluster_of_many_judges_has_several() -> None:
    replicas = JudgeSettings.load().replicas
    assert workers_for(replicas.max * replicas.max_ongoing_requests) == 1
    assert workers_for(8 * 64) > 1


@given(st.integers(1, 100_000))
def test_workers_together_always_have_enough_at_hand_to_fill_every_call(in_flight: int) -> None:
    workers = workers_for(in_flight)
    assert (workers - 1) * CALLS_PER_WORKER < in_flight <= workers * CALLS_PER_WORKER
    assert units_at_once(in_flight) * UNIT_ROWS >= in_flight * CHUNK


@given(st.lists(st.tuples(st.integers(1, 40), st.integers(0, 39)), max_size=30), st.integers(1, 50))
def test_waves_hold_every_section_once_in_order_and_few_units_each(sizes: list[tuple[int, int]], units: int) -> None:
    sections = [
        Section("u", "f", group, 0, 5 * parts, 5, tuple(range(min(done, parts - 1))), Sampling())
        for group, (parts, done) in enumerate(sizes)
    ]
    cut = list(waves(sections, units))
    assert [section for wave in cut for section in wave] == sections
    left = [[len(section.parts) - len(section.done) for section in wave] for wave in cut]
    assert all(sum(wave) <= units or len(wave) == 1 for wave in left)
    assert all(sum(one) + other[0] > units for one, other in pairwise(left)), "none is smaller than it must be"


@pytest.mark.parametrize(("takes", "between"), [(0.2, run.COMMIT_SECONDS), (4.0, 4.0 / run.COMMIT_SHARE)])
def test_commits_come_every_few_seconds_and_more_seldom_once_they_are_dear(
    monkeypatch: pytest.MonkeyPatch, takes: float, between: float
) -> None:
    now = 0.0
    commits: list[tuple[float, int]] = []

    def commit(*arguments: Any) -> None:
        nonlocal now
        commits.append((now, len(arguments[-1])))
        now += takes

    monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: now))
    plan: Any = SimpleNamespace(run_id="r", judge_version="j")
    store: Any = SimpleNamespace(commit=commit)
    committer = run._Committer(store, SimpleNamespace(), plan)  # type: ignore[arg-type]
    for part in range(200):
        now += 1.0
        committer.add(_unit(part, outcomes=10))
    committer.flush()
    starts = [start for start, _ in commits[1:-1]]
    assert all(between <= after - before < between + 2 for before, after in pairwise(starts))
    assert sum(units for _, units in commits) == 200, "none is left behind"


@pytest.mark.parametrize("much", [{"outcomes": run.COMMIT_ROWS // 4}, {"outcomes": 1, "size": run.COMMIT_BYTES // 4}])
def test_many_rows_or_long_ones_are_committed_without_waiting(much: dict[str, int]) -> None:
    commits: list[int] = []
    store: Any = SimpleNamespace(commit=lambda *arguments: commits.append(len(arguments[-1])))
    plan: Any = SimpleNamespace(run_id="r", judge_version="j")
    committer = run._Committer(store, SimpleNamespace(), plan)  # type: ignore[arg-type]
    for part in range(8):
        committer.add(_unit(part, **much))
    assert commits == [4, 4]


def _unit(part: int, outcomes: int, size: int = 0) -> dict[str, Any]:
    place = {"source": "file:///log.parquet", "part": part, "fingerprint": "f"}
    return place | {"outcomes": outcomes, "bytes": size, "staged": "", "total": outcomes, "skipped": 0}
