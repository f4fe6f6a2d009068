"""The bar of a run: it moves with pairs that have an answer, and never counts one twice when its unit is done."""

from __future__ import annotations

from excam.cli.progress import RunDisplay
from pipelines.progress import Planned, Tally


def position(display: RunDisplay) -> float:
    return display._progress.tasks[0].completed


def test_the_bar_moves_while_a_unit_is_being_judged_and_settles_when_it_is_done() -> None:
    display = RunDisplay(quiet=True)
    display.planned(Planned(files=1, files_done=0, broken=(), rows=240))
    display.judging(Tally())
    display.answered(32)
    assert position(display) == 32
    display.judging(Tally(rows=128, judged=100))
    assert position(display) == 128, "100 of its pairs were judged; 28 rows needed no judge"
    display.answered(148)
    assert position(display) == 176
    display.judging(Tally(rows=240, judged=198))
    assert position(display) == 240


def test_the_speed_counts_every_pair_that_has_an_answer() -> None:
    display = RunDisplay(quiet=True)
    display.judging(Tally())
    display._begun -= 10
    display.answered(50)
    assert display._progress.tasks[0].fields["rate"] in {"5.0 pairs/s", "4.9 pairs/s"}
