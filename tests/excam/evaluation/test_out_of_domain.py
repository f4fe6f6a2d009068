from __future__ import annotations

from typing import Any

import pytest

from excam.evaluation.markdown import render_out_of_domain
from excam.evaluation.out_of_domain import average, in_domain, out_of_domain
from excam.fault import UserError


def test_each_source_is_judged_by_the_adapter_that_never_saw_it(make_judged: Any) -> None:
    blend = make_judged([True] * 50, [True] * 50, sources=("blend",), left_out="blend")
    epic = make_judged([True, False] * 20, [False, True] * 20, sources=("epic",), left_out="epic")
    base = make_judged([True, False] * 25, [False, True] * 25, sources=("blend", "epic"), judge="untuned")
    columns = out_of_domain([epic, blend], [base])
    assert [column.source for column in columns] == ["blend", "epic"]
    assert [column.figure.figure for column in columns] == [1.0, 0.0]
    assert [column.above_all for column in columns] == [True, False]
    assert average(columns) == pytest.approx(0.5)
    text = render_out_of_domain(columns, "ours", ["untuned"], in_domain(base))
    assert "| Judge | ALL (ID) | blend* | epic | AVG (OOD) |" in text
    assert "| ours | 0.000" in text
    assert "| n |  | 100 | 80 |  |" in text


def test_a_source_with_soft_errors_only_counts_these_and_is_held_against_others_on_them(
    make_row: Any, make_judged: Any
) -> None:
    def judged(right: bool, **facts: Any) -> Any:
        said = {"error": "error", "correct": "correct" if right else "error"}
        soft = [make_row(n, label, said[label], source="calmqa", origin="soft-rule" if label == "error" else "none")
                for n in range(20) for label in ("error", "correct")]  # fmt: skip
        return make_judged([], [], soft, **facts)

    ours, base = judged(True, left_out="calmqa"), judged(False)
    (column,) = out_of_domain([ours])
    assert (column.figure.n, column.figure.figure) == (40, 1.0)
    assert not column.above_all, "there is nothing it was held against"
    assert out_of_domain([ours], [base])[0].above_all
    assert not out_of_domain([ours], [base, ours])[0].above_all


def test_a_run_that_left_nothing_out_is_refused(make_judged: Any) -> None:
    with pytest.raises(UserError, match="trained without"):
        out_of_domain([make_judged([True], [True])])
