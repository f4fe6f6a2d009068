from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import pytest

from excam.evaluation.figures import HEADLINE, Figure, Summary, headline, share, summarise
from excam.evaluation.judged import Judged, judged_table


def _figure(summary: Summary, *name: str) -> Figure:
    found = summary.find(*name)
    assert found is not None, name
    return found


def test_the_headline_is_the_mean_of_the_sources_and_the_pooled_figure_is_not(make_judged: Any, make_row: Any) -> None:
    # blend: 20 twins all right (1.0); epic: 10 twins of which no error is found (0.0)
    extra = [make_row(n, label, "correct", source="epic") for n in range(10) for label in ("error", "correct")]
    summary = summarise(make_judged([True] * 20, [True] * 20, extra))
    assert _figure(summary, "scaled_accuracy", "hard", "all", HEADLINE).figure == pytest.approx(0.5)
    assert _figure(summary, "scaled_accuracy").figure == pytest.approx(20 / 30 + 1 - 1)
    assert [(one.value, one.n, one.figure) for one in summary.over("scaled_accuracy", "source")] == [
        ("blend", 40, 1.0),
        ("epic", 20, 0.0),
    ]


def test_the_headline_counts_only_sources_that_have_an_accuracy(make_judged: Any, make_row: Any) -> None:
    alone = [make_row(n, "error", "error", source="epic") for n in range(30)]
    assert headline(make_judged([True] * 6, [True] * 6, alone))[0].n == 12


def test_decisions_by_hand_with_an_interval_around_each(make_judged: Any) -> None:
    summary = summarise(make_judged([True] * 30 + [False] * 10, [True] * 20 + [False] * 20))
    found = _figure(summary, "scaled_accuracy")
    assert found.figure == pytest.approx(0.75 + 0.5 - 1)
    assert found.low < found.figure < found.high
    # an item is worth 1 (20 of them), 0 (10) or -1 (10): variance 0.6875, so 1.96 standard errors are 0.257
    assert found.high - found.low == pytest.approx(2 * 0.257, abs=0.06)
    assert _figure(summary, "errors_found").figure == 0.75
    assert _figure(summary, "correct_let_be").figure == 0.5
    assert _figure(summary, "kendall").low < _figure(summary, "kendall").figure < _figure(summary, "kendall").high
    assert _figure(summary, "tie_accuracy").n == 80


def test_a_failure_is_wrong_whatever_the_truth_and_is_counted(make_judged: Any, make_row: Any) -> None:
    failed = [make_row(100 + n, label, None) for n in range(5) for label in ("error", "correct")]
    summary = summarise(make_judged([True] * 5, [True] * 5, failed))
    assert _figure(summary, "scaled_accuracy").figure == pytest.approx(0.5 + 0.5 - 1)
    assert _figure(summary, "parse_failures", "every pair").figure == 0.5


def test_soft_errors_and_their_twins_stand_apart(make_judged: Any, make_row: Any) -> None:
    soft = [
        make_row(50 + n, label, "correct", origin="soft-rule" if label == "error" else "none")
        for n in range(4)
        for label in ("error", "correct")
    ]
    summary = summarise(make_judged([True] * 4, [True] * 4, soft))
    assert _figure(summary, "scaled_accuracy", "hard").figure == 1
    assert _figure(summary, "scaled_accuracy", "soft").figure == 0
    assert _figure(summary, "scaled_accuracy", "all").figure == 0.5


def test_false_alarms_are_those_on_ordinary_pairs_and_the_gate_takes_some_away(make_judged: Any, make_row: Any) -> None:
    ordinary = [
        make_row(n, "not_applicable", "error" if n < 4 else "not_applicable", source="assistant", passes_gate=n < 1)
        for n in range(10)
    ]
    summary = summarise(make_judged([True] * 3, [True] * 3, ordinary))
    assert _figure(summary, "false_alarms", "ordinary").figure == pytest.approx(0.4)
    assert _figure(summary, "false_alarms_with_gate", "ordinary").figure == pytest.approx(0.1)
    assert _figure(summary, "ordinary_pass_gate", "ordinary", "source", "assistant").figure == pytest.approx(0.1)
    assert _figure(summary, "scaled_accuracy").figure == 1, "ordinary pairs are no part of the accuracy"
    assert _figure(summary, "cultural_stopped_by_gate", "all").figure == 0


def test_what_the_gate_stops_counts_as_without_an_error(make_row: Any, run: Any) -> None:
    labels = [(number, label) for number in range(8) for label in ("error", "correct")]
    rows = [make_row(number, label, label, passes_gate=number >= 4) for number, label in labels]
    summary = summarise(Judged(judged_table(rows, run), run))
    assert _figure(summary, "scaled_accuracy", "hard", "all", HEADLINE).figure == 1
    assert _figure(summary, "scaled_accuracy_with_gate", "hard", "all", HEADLINE).figure == pytest.approx(0.5)


def test_a_baseline_is_ordered_by_its_score_alone_and_again_with_its_probability(make_row: Any, run: Any) -> None:
    baseline = run.model_copy(update={"baseline": "counting", "reports": True})
    rows = []
    for number in range(20):
        rows.append(make_row(number, "error", "error", score=-2.0, p_error=None, p_report=0.5))
        rows.append(make_row(number, "correct", "correct", score=0.0, p_error=None, p_report=number / 20))
    summary = summarise(Judged(judged_table(rows, baseline), baseline))
    assert _figure(summary, "kendall").figure == pytest.approx(1.0)
    assert _figure(summary, "kendall_with_p").figure < 1
    assert summary.bins == []
    assert summary.find("ece", "all") is None


def test_reports_are_asked_for_their_explanations_only_where_they_were_written(make_judged: Any) -> None:
    twins = make_judged([True, False], [True, True])
    assert summarise(twins).find("names_right_answer") is None
    written = make_judged([True, False], [True, True], reports=True)
    column = written.table["report"].to_pylist()  # the judge wrote what is true
    place = written.table.schema.get_field_index("written")
    table = written.table.set_column(place, "written", [column])
    summary = summarise(Judged(table, written.run))
    assert _figure(summary, "reports_of_errors").figure == 0.5
    assert _figure(summary, "names_right_answer").figure == 1
    assert _figure(summary, "span_is_gold").figure == 1


def test_a_rate_of_zero_still_has_an_upper_end_that_shrinks_with_items_not_with_samples() -> None:
    hit = np.zeros(100, dtype=bool)
    many = share("x", "y", hit, np.arange(100).astype(str))
    few = share("x", "y", hit, np.repeat(np.arange(10), 10).astype(str))
    assert many.low == few.low == 0
    assert few.high > many.high > 0


def test_a_share_on_one_item_is_not_certain() -> None:
    one = share("x", "y", np.array([True, False]), np.array(["item", "item"]))
    assert one.low < one.figure < one.high


def test_a_judge_without_a_mistake_on_a_few_items_is_not_certain_to_make_none(make_judged: Any) -> None:
    few, many = (summarise(make_judged([True] * n, [True] * n), draws=100) for n in (10, 40))
    for name in (("scaled_accuracy",), ("scaled_accuracy", "hard", "all", HEADLINE)):
        assert _figure(few, *name).low < _figure(many, *name).low < _figure(many, *name).high == 1
    # Wilson's lower end of 10 of 10 is 0.7225; two classes lie hypot(0.2775, 0.2775) below
    assert _figure(few, "scaled_accuracy", "hard", "source", "blend").low == pytest.approx(1 - 0.3925, abs=1e-3)


def test_the_interval_of_tie_calibrated_accuracy_holds_the_figure_where_all_scores_tie(make_judged: Any) -> None:
    found = _figure(summarise(make_judged([True] * 30, [False] * 30), draws=50), "tie_accuracy")
    assert found.low <= found.figure + 1e-9
    assert found.figure <= found.high + 1e-9


def test_no_sample_at_all_gives_no_figure(run: Any) -> None:
    assert summarise(Judged(judged_table([], run), run)).figures == []


def test_a_table_without_errors_or_without_answers_gives_what_it_can(make_row: Any, run: Any) -> None:
    rows = [make_row(n, "correct", None) for n in range(3)]
    summary = summarise(Judged(judged_table(rows, run), run))
    assert summary.find("scaled_accuracy", "soft", "source", "blend") is None
    assert all(math.isfinite(one.figure) or one.measure.startswith(("scaled", "kendall")) for one in summary.figures)


@pytest.mark.processes
def test_a_whole_test_split_is_summed_up_in_seconds(make_judged: Any) -> None:
    rng = np.random.default_rng(0)
    judged = make_judged(
        (rng.random(1500) < 0.7).tolist(), (rng.random(1500) < 0.8).tolist(), sources=("a", "b", "c", "d")
    )
    begun = time.process_time()
    summary = summarise(judged, most_pairs=100_000)
    assert _figure(summary, "scaled_accuracy").n == 12_000
    assert time.process_time() - begun < 60
