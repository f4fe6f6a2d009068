"""What a pair costs in the course of a run, told from the times at which its tenths were done."""

from __future__ import annotations

import pytest

from bench.course import TENTHS, Course, later_to_earlier, pauses
from bench.footprint import Footprint
from pipelines.progress import Tally


def _course(pairs: int, unit: int, cost: float, dearer: float, after: tuple[int, ...] = ()) -> tuple[Course, list[int]]:
    """A run whose second half costs so many times as much, and how far it was whenever it paused."""
    used, paused = Footprint(), []
    judged, spent = 0, 0.0
    course = Course(pairs, used, after, lambda: paused.append(judged))
    course.judging(Tally())
    while judged < pairs:
        spent += unit * cost * (dearer if judged >= pairs / 2 else 1.0)
        judged += unit
        used.seconds = {1: spent / 2, 2: spent / 2}
        course.judging(Tally(judged=judged))
    return course, paused


def test_what_gets_dearer_shows_and_a_machine_that_gets_slower_is_told_apart() -> None:
    tenths = _course(10_000, 100, 0.003, dearer=1.8)[0].tenths()
    assert later_to_earlier(tenths, [2.0, 2.0]) == pytest.approx(1.8)
    assert later_to_earlier(tenths, [2.0, 99.0, 3.0]) == pytest.approx(1.2)


def test_every_tenth_is_told_and_a_run_of_few_units_has_fewer() -> None:
    many = _course(10_000, 100, 0.003, dearer=1.0)[0].tenths()
    assert many == pytest.approx([3.0] * TENTHS)
    assert len(_course(300, 100, 0.003, dearer=1.0)[0].tenths()) < TENTHS


def test_pauses_are_evenly_spread_and_never_at_the_start_or_the_end() -> None:
    assert pauses(9) == [1, 2, 3, 4, 5, 6, 7, 8, 9]
    assert pauses(1) == [5]
    for turns in range(1, TENTHS):
        assert len(set(pauses(turns))) == turns
        assert set(pauses(turns)) <= set(range(1, TENTHS))


def test_a_run_pauses_when_the_tenths_named_are_done() -> None:
    assert _course(10_000, 100, 0.003, dearer=1.0, after=(2, 5))[1] == [2_000, 5_000]
