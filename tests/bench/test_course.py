"""What a pair costs in the course of a run, told from the times at which its tenths were done."""

from __future__ import annotations

import pytest

from bench.course import TENTHS, Course, later_to_earlier
from bench.footprint import Footprint
from bench.yardstick import Yardstick
from pipelines.progress import Tally


def _tenths(pairs: int, unit: int, cost: float, dearer: float, slower: float) -> list[dict[str, float]]:
    """A run whose second half costs so many times as much, on a machine that then takes so many times as long."""
    used, yardstick = Footprint(), Yardstick()
    yardstick.took = []
    course = Course(pairs, used, yardstick)
    course.judging(Tally())
    judged, spent = 0, 0.0
    while judged < pairs:
        late = judged >= pairs / 2
        spent += unit * cost * (dearer * slower if late else 1.0)
        judged += unit
        used.seconds = {1: spent / 2, 2: spent / 2}
        yardstick.took.append(0.01 * (slower if late else 1.0))
        course.judging(Tally(judged=judged))
    return course.tenths()


def test_what_gets_dearer_shows_and_a_machine_that_gets_slower_is_told_apart() -> None:
    raw, by_yardstick = later_to_earlier(_tenths(10_000, 100, 0.003, dearer=1.2, slower=1.5))
    assert raw == pytest.approx(1.8)
    assert by_yardstick == pytest.approx(1.2)


def test_every_pair_is_in_one_tenth_and_a_run_of_few_units_has_fewer_tenths() -> None:
    many = _tenths(10_000, 100, 0.003, dearer=1.0, slower=1.0)
    assert len(many) == TENTHS
    assert sum(tenth["pairs"] for tenth in many) == 10_000
    assert all(tenth["cpu_ms"] == pytest.approx(3.0) for tenth in many)
    assert len(_tenths(300, 100, 0.003, dearer=1.0, slower=1.0)) < TENTHS
