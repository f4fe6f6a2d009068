"""The report: Markdown tables in the layout of the paper's Table 4, with n and intervals throughout."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence

from excam.evaluation.figures import HEADLINE, Figure, Summary
from excam.evaluation.judged import Run
from excam.evaluation.out_of_domain import OutOfDomain, average
from excam.evaluation.paper import CORRECT_LET_BE, DIFFERENCES, ERRORS_FOUND, NAMES_RIGHT_ANSWER, TABLE_4

FEWEST = 50  # samples a language or country needs to get a line; the Parquet file holds all of them


def table(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A Markdown table; the first column is text, the others are numbers."""
    lines = [columns, ["---"] + ["---:"] * (len(columns) - 1), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in line)} |" for line in lines)


def _cell(value: object) -> str:
    """A name on one line that ends no cell and is no HTML."""
    return re.sub(r"\s+", " ", str(value)).replace("<", "&lt;").replace("|", "\\|")


def number(value: float) -> str:
    return "–" if math.isnan(value) else f"{value:.3f}"


def with_interval(one: Figure | None) -> str:
    if one is None or math.isnan(one.figure):
        return "–"
    return number(one.figure) + ("" if math.isnan(one.low) else f" [{number(one.low)}, {number(one.high)}]")


def percent(one: Figure | None) -> str:
    if one is None or math.isnan(one.figure):
        return "–"
    return f"{one.figure:.1%} [{one.low:.1%}, {one.high:.1%}]"


def size(run: Run) -> str:
    return "–" if run.parameters is None else f"{run.parameters / 1e9:.2g}B"


def render(summary: Summary, run: Run, plots: Sequence[tuple[str, str]] = ()) -> str:
    """The whole report; ``plots`` are (title, file) of the pictures beside it."""
    parts = [_head(run), _table_4(summary, run), _sources(summary), _ordinary(summary), _explained(summary)]
    parts += [_calibration(summary), _slices(summary, "language"), _slices(summary, "country")]
    parts += [f"![{title}]({file})" for title, file in plots]
    return "\n\n".join(part for part in parts if part) + "\n"


def _head(run: Run) -> str:
    told = [
        f"# Evaluation of {_cell(run.judge)}",
        f"judge_version `{run.judge_version}` · {run.split} split (sha256 `{run.dataset_sha256[:16]}`) · "
        f"{_asked_for(run)}"
        + (f" · at most {run.limit:,} samples a source" if run.limit else "")
        + (f" · trained without {_cell(run.left_out)}" if run.left_out else ""),
        "Intervals are 95 %, by resampling whole items. A pair without a readable answer counts as judged wrongly.",
    ]
    if not run.reports and run.baseline is None:
        told.append("Without reports every error found scores -5, a major error.")
    if run.decisions_sha256 and run.decisions_adapter is None:
        told.append("The file of decisions names no adapter: that this judge made them could not be checked.")
    return "\n\n".join(told)


def _asked_for(run: Run) -> str:
    if run.baseline:
        return f"the paper's {run.baseline} prompt"
    return f"threshold {run.threshold:.3g} · {'reports written' if run.reports else 'decisions only'}"


def _table_4(summary: Summary, run: Run) -> str:
    rows: list[list[object]] = [[f"**{run.judge}**", size(run), *_three(summary, "hard", HEADLINE, "")]]
    if run.baseline:
        rows.append([f"**{run.judge}+p**", size(run), *_three(summary, "hard", HEADLINE, "_with_p")])
    rows.append([f"{run.judge}, pooled", size(run), *_three(summary, "hard", "", "")])
    if summary.find("scaled_accuracy", "soft"):
        rows.append([f"{run.judge}, hard and soft pooled", size(run), *_three(summary, "all", "", "")])
    rows += [
        [f"paper: {one.model}", f"{one.billions:g}B", *map(number, one[2:])]
        for one in sorted(TABLE_4, key=lambda one: -one.scaled_accuracy)
    ]
    head = summary.find("scaled_accuracy", "hard", "all", HEADLINE)
    n = f"{head.n:,} samples, mean of the sources for S.Acc." if head else "no hard errors in this data"
    caption = f"Scaled accuracy (0 is random), Kendall and tie-calibrated accuracy; hard errors and their twins, {n}"
    differences = "\n".join(f"- {line}" for line in DIFFERENCES)
    columns = ("Model", "Size", "S.Acc.", "Kd", "T.Acc.")
    return f"## Beside the paper's Table 4\n\n{caption}\n\n{table(columns, rows)}\n\nWhat differs:\n\n{differences}"


def _three(summary: Summary, part: str, value: str, variant: str) -> list[str]:
    accuracy = summary.find("scaled_accuracy", part, "all", value)
    order = (summary.find(f"{name}{variant}", part) for name in ("kendall", "tie_accuracy"))
    return [with_interval(accuracy), *(with_interval(one) for one in order)]


def _sources(summary: Summary) -> str:
    rows = []
    for part in ("hard", "soft"):
        for one in summary.over("scaled_accuracy", "source", part):
            found = (summary.find(name, part, "source", one.value) for name in ("kendall", "tie_accuracy"))
            order = [number(figure.figure) if figure else "–" for figure in found]
            name = one.value if part == "hard" else f"{one.value} (soft)"
            rows.append([name, f"{one.n:,}", with_interval(one), *order])
    return f"## By source\n\n{table(('Source', 'n', 'S.Acc.', 'Kd', 'T.Acc.'), rows)}"


def _ordinary(summary: Summary) -> str:
    rows = []
    for title, measure, part in (
        ("errors found", "errors_found", "hard"),
        ("correct pairs let be", "correct_let_be", "hard"),
        ("false alarms on pairs not about culture", "false_alarms", "ordinary"),
        ("the same with the gate in front", "false_alarms_with_gate", "ordinary"),
        ("pairs not about culture that pass the gate", "ordinary_pass_gate", "ordinary"),
        ("cultural pairs stopped by the gate", "cultural_stopped_by_gate", "all"),
        ("answers that could not be read", "parse_failures", "every pair"),
        ("decisions or reports that had to be forced", "guided", "every pair"),
        ("pairs cut because they were too long", "truncated", "every pair"),
    ):
        one = summary.find(measure, part)
        published = {"errors_found": ERRORS_FOUND, "correct_let_be": CORRECT_LET_BE}.get(measure, {})
        if one:
            rows.append([title, f"{one.n:,}", percent(one), _published(published)])
    gated = summary.find("scaled_accuracy_with_gate", "hard", "all", HEADLINE)
    closing = f"\n\nS.Acc. of the whole system, gate and judge: {with_interval(gated)}" if gated else ""
    return f"## Decisions\n\n{table(('', 'n', 'share', 'paper (Gemma3 / Phi3)'), rows)}{closing}"


def _published(values: dict[str, float]) -> str:
    return " / ".join(f"{value:.0%}" for value in values.values()) or "–"


def _explained(summary: Summary) -> str:
    rows = []
    for title, measure in (
        ("hard errors with a report", "reports_of_errors"),
        ("of these: explanation names the right answer", "names_right_answer"),
        ("every span found in the text", "span_located"),
        ("a span equal to the gold span", "span_is_gold"),
        ("a span that overlaps it", "span_overlaps"),
    ):
        one = summary.find(measure, "hard")
        if one:
            known = NAMES_RIGHT_ANSWER if measure == "names_right_answer" else {}
            rows.append([title, f"{one.n:,}", percent(one), _published(known)])
    return f"## Explanations\n\n{table(('', 'n', 'share', 'paper (Gemma3 / Phi3)'), rows)}" if rows else ""


def _calibration(summary: Summary) -> str:
    if not summary.bins:
        return ""
    rows = [
        [f"{one.low:.1f} – {one.high:.1f}", f"{one.n:,}", number(one.claimed), number(one.happened)]
        for one in summary.bins
    ]
    ece, decided = summary.find("ece", "all"), summary.find("ece_of_decisions", "all")
    told = f"ECE of P(error) {number(ece.figure) if ece else '–'}, of the decision's confidence " + (
        number(decided.figure) if decided else "–"
    )
    return f"## Reliability of P(error)\n\n{told}\n\n{table(('P(error)', 'n', 'mean', 'errors'), rows)}"


def _slices(summary: Summary, by: str) -> str:
    found = sorted(summary.over("scaled_accuracy", by), key=lambda one: -one.figure)
    rows = [[one.value or "none", f"{one.n:,}", with_interval(one)] for one in found if one.n >= FEWEST]
    if not rows:
        return ""
    few = f"{len(found) - len(rows)} with fewer than {FEWEST} samples not shown"
    title = f"## By {by}\n\nHard errors and their twins; {few}."
    return f"{title}\n\n{table((by.capitalize(), 'n', 'S.Acc.'), rows)}"


def render_out_of_domain(
    columns: Sequence[OutOfDomain], judge: str, against: Sequence[str], in_domain: Figure | None
) -> str:
    """Figure 3 as a table: rows are judges, columns the sources each adapter was trained without."""
    names = [column.source + ("*" if column.above_all else "") for column in columns]
    own = [number(column.figure.figure) for column in columns]
    rows = [[judge, with_interval(in_domain) if in_domain else "–", *own, number(average(columns))]]
    for place, name in enumerate(against):
        figures = [column.against[place] for column in columns]
        there = [one.figure for one in figures if one is not None]
        mean = sum(there) / len(there) if there else math.nan
        rows.append([name, "–", *(number(one.figure) if one else "–" for one in figures), number(mean)])
    sizes = ["n", "", *(f"{column.figure.n:,}" for column in columns), ""]
    note = (
        "A star marks sources on which the judge is better than every other row (p < 0.05, paired permutation, Holm)."
    )
    shown = table(("Judge", "ALL (ID)", *names, "AVG (OOD)"), [*rows, sizes])
    return f"# Out of domain\n\nScaled accuracy on a source by an adapter trained without it.\n\n{shown}\n\n{note}\n"
