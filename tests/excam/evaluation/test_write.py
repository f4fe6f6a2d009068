from __future__ import annotations

import builtins
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from excam.evaluation.figures import summarise
from excam.evaluation.judged import FACTS, Judged, Run
from excam.evaluation.markdown import table
from excam.evaluation.paper import TABLE_4
from excam.evaluation.write import write_report
from excam.fault import UserError


@pytest.fixture
def judged(make_judged: Any, make_row: Any) -> Judged:
    ordinary = [make_row(n, "not_applicable", "error", source="assistant") for n in range(3)]
    found: Judged = make_judged([True] * 40 + [False] * 20, [True] * 60, ordinary, sources=("blend", "epic"))
    return found


def test_the_report_its_plots_and_its_figures_land_in_one_folder(tmp_path: Path, judged: Judged) -> None:
    summary = summarise(judged, draws=200)
    path = write_report(judged, summary, tmp_path / "out")
    text = path.read_text("utf-8")
    assert "| Model | Size | S.Acc. | Kd | T.Acc. |" in text
    assert "| **small + adapter@1** | 0.49B | 0.667 [" in text
    assert all(f"| paper: {row.model} |" in text for row in TABLE_4)
    assert "| blend | 120 | 0.667 [" in text
    for picture in ("sources.png", "reliability.png"):
        assert f"({picture})" in text
        assert (path.parent / picture).read_bytes().startswith(b"\x89PNG")
    figures = pq.read_table(path.parent / "figures.parquet")
    assert figures.num_rows == len(summary.figures)
    assert Run.model_validate_json(figures.schema.metadata[FACTS]) == judged.run
    assert pq.read_table(path.parent / "reliability.parquet").num_rows == len(summary.bins)


def test_without_matplotlib_the_fix_names_the_extra_and_the_way_around(
    tmp_path: Path, judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def absent(name: str, *rest: Any, **options: Any) -> Any:
        if name.startswith("matplotlib"):
            raise ModuleNotFoundError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", absent)
    summary = summarise(judged, draws=50)
    with pytest.raises(UserError, match="matplotlib") as caught:
        write_report(judged, summary, tmp_path)
    assert "excam[evaluate]" in caught.value.fix
    assert "--no-plots" in caught.value.fix
    assert write_report(judged, summary, tmp_path, plots=False).is_file()


def test_names_from_data_cannot_break_a_table_a_heading_or_a_picture(make_judged: Any, tmp_path: Path) -> None:
    judged = make_judged([True] * 3, [True] * 3, sources=("a|b\nc", r"<b>$\frac{$"), judge="x | y\n# <i>z")
    lines = write_report(judged, summarise(judged, draws=50), tmp_path).read_text("utf-8").splitlines()
    assert any(line.startswith("| a\\|b c | 6 |") for line in lines)
    assert [line for line in lines if line.startswith("# ")] == ["# Evaluation of x \\| y # &lt;i>z"]
    assert not any("<" in line for line in lines)
    assert table(("a", "b"), [["x|y", 1]]) == "| a | b |\n| --- | ---: |\n| x\\|y | 1 |"


def test_a_table_with_nothing_but_failures_is_still_a_report(make_row: Any, make_judged: Any, tmp_path: Path) -> None:
    judged = make_judged([], [], [make_row(n, "error", None) for n in range(3)])
    text = write_report(judged, summarise(judged, draws=50), tmp_path).read_text("utf-8")
    assert "answers that could not be read | 3 | 100.0%" in text
