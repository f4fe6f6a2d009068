"""How many workers a run starts, and how much each keeps at hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pipelines.judging import CHUNK, units_at_once
from pipelines.run import CALLS_PER_WORKER, workers_for
from pipelines.units import UNIT_ROWS
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
